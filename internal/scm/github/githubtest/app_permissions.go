package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

// needed returns the App permissions that a route requires, any one of them, as
// NAME=ACCESS. An empty list requires none.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func needed() map[string][]string {
	pulls, onPull := []string{"pull_requests=read"}, []string{"issues=write", "pull_requests=write"}
	return map[string][]string{
		"GET /rate_limit":                {},
		"GET /users/{user}":              {},
		"GET /installation/repositories": {},

		"GET /orgs/{org}/teams/{team}/memberships/{user}": {"members=read"},

		"GET /repos/{owner}/{repo}":                                 {"metadata=read"},
		"GET /repos/{owner}/{repo}/collaborators/{user}/permission": {"metadata=read"},
		"GET /repos/{owner}/{repo}/rules/branches/{branch...}":      {"metadata=read"},
		"GET /repos/{owner}/{repo}/rulesets/{id}":                   {"metadata=read"},
		"GET /repos/{owner}/{repo}/branches/{branch...}":            {"contents=read"},
		"GET /repos/{owner}/{repo}/branches/{branch}/protection":    {"administration=read"},
		"GET /repos/{owner}/{repo}/compare/{basehead...}":           {"contents=read"},
		"GET /repos/{owner}/{repo}/contents/{path...}":              {"contents=read"},
		"GET /repos/{owner}/{repo}/releases":                        {"contents=read"},
		"GET /repos/{owner}/{repo}/git/commits/{sha}":               {"contents=read"},
		"PUT /repos/{owner}/{repo}/pulls/{number}/merge":            {"contents=write"},

		"GET /repos/{owner}/{repo}/commits/{ref}/status":     {"statuses=read"},
		"GET /repos/{owner}/{repo}/commits/{ref}/statuses":   {"statuses=read"},
		"POST /repos/{owner}/{repo}/statuses/{sha}":          {"statuses=write"},
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs": {"checks=read"},

		"GET /repos/{owner}/{repo}/pulls":                               pulls,
		"GET /repos/{owner}/{repo}/pulls/{number}":                      pulls,
		"GET /repos/{owner}/{repo}/pulls/{number}/reviews":              pulls,
		"POST /repos/{owner}/{repo}/pulls":                              {"pull_requests=write"},
		"PATCH /repos/{owner}/{repo}/pulls/{number}":                    {"pull_requests=write"},
		"POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers": {"pull_requests=write"},

		"GET /repos/{owner}/{repo}/issues/{number}":            {"issues=read", "pull_requests=read"},
		"GET /repos/{owner}/{repo}/issues/{number}/events":     {"issues=read", "pull_requests=read"},
		"GET /repos/{owner}/{repo}/issues/{number}/comments":   {"issues=read", "pull_requests=read"},
		"POST /repos/{owner}/{repo}/issues/{number}/comments":  onPull,
		"POST /repos/{owner}/{repo}/issues/{number}/labels":    onPull,
		"POST /repos/{owner}/{repo}/issues/{number}/assignees": onPull,
		"PATCH /repos/{owner}/{repo}/issues/comments/{id}":     onPull,

		"GET /repos/{owner}/{repo}/issues/comments":                 {"issues=read", "pull_requests=read"},
		"POST /repos/{owner}/{repo}/issues/comments/{id}/reactions": onPull,
	}
}

// refuseApp rejects what an App's credential may not do, with GitHub's message. A
// route that Apps may not use at all, such as /user, is rejected likewise.
func refuseApp(c *call) *reply {
	if c.token.app != nil && !strings.Contains(c.route, "/app") && !strings.HasSuffix(c.route, "/installation") {
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	if c.token.installation == nil {
		return nil
	}
	either, listed := needed()[c.route]
	if listed && (len(either) == 0 || slices.ContainsFunc(either, c.token.permits)) {
		return nil
	}
	if !listed && c.route != "GET /user" && !strings.Contains(c.route, "/app") && !strings.HasSuffix(c.route, "/installation") {
		c.s.t.Errorf("githubtest: which permission does %s need?", c.route)
	}
	answer := refuse(http.StatusForbidden, "Resource not accessible by integration")
	answer.Header.Set("X-Accepted-GitHub-Permissions", strings.Join(either, "; "))
	return answer
}

// permits reports whether the token of an installation has a permission, NAME=ACCESS.
func (k *token) permits(wanted string) bool {
	name, access, _ := strings.Cut(wanted, "=")
	held := k.permissions[name]
	if k.installation.permissions[name] == "" {
		return false // revoked since the token was created
	}
	return held == "write" || held == access
}
