package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// handler executes a request.
type handler func(c *call) *reply

// endpoint is one route: its handler, and the permissions of which an App needs one, as
// NAME=ACCESS. An empty list needs none; nil is for routes that installations may not
// use.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
type endpoint struct {
	handle handler
	either []string
}

// endpoints returns the routes by method and path, with the permissions of an App, one of
// which each needs.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func endpoints() map[string]endpoint {
	none, pulls, onPulls := []string{}, []string{"pull_requests=read"}, []string{"issues=write", "pull_requests=write"}
	metadata, contents, onIssues := []string{"metadata=read"}, []string{"contents=read"}, []string{"issues=read", "pull_requests=read"}
	statuses, edits := []string{"statuses=read"}, []string{"pull_requests=write"}
	return map[string]endpoint{
		"GET /user":                              {getUser, nil},
		"GET /users/{user}":                      {getUserByName, metadata},
		"POST /app-manifests/{code}/conversions": {convertManifest, nil},
		"GET /app":                               {asApp(getApp), nil},
		"GET /app/installations":                 {asApp(listInstallations), nil},

		"POST /graphql": {queryComments, onIssues},
		"POST /app/installations/{id}/access_tokens":                    {asApp(createToken), nil},
		"GET /repos/{owner}/{repo}/installation":                        {asApp(getRepositoryInstallation), nil},
		"GET /installation/repositories":                                {listInstallationRepositories, none},
		"GET /repos/{owner}/{repo}/contents/{path...}":                  {reading(getContents), contents},
		"GET /orgs/{org}/teams/{team}/memberships/{user}":               {getMembership, []string{"members=read"}},
		"GET /repos/{owner}/{repo}":                                     {reading(getRepository), metadata},
		"GET /repos/{owner}/{repo}/collaborators/{user}/permission":     {reading(getPermission), metadata},
		"GET /repos/{owner}/{repo}/branches/{branch...}":                {reading(getBranch), contents},
		"GET /repos/{owner}/{repo}/activity":                            {reading(listActivity), contents},
		"GET /repos/{owner}/{repo}/branches/{branch}/protection":        {reading(getProtection), []string{"administration=read"}},
		"GET /repos/{owner}/{repo}/rules/branches/{branch...}":          {reading(listRules), metadata},
		"GET /repos/{owner}/{repo}/rulesets/{id}":                       {reading(getRuleset), metadata},
		"GET /repos/{owner}/{repo}/compare/{basehead...}":               {reading(compare), contents},
		"GET /repos/{owner}/{repo}/releases":                            {reading(listReleases), contents},
		"GET /repos/{owner}/{repo}/releases/tags/{tag}":                 {reading(getRelease), contents},
		"GET /repos/{owner}/{repo}/deployments":                         {reading(listDeployments), []string{"deployments=read"}},
		"GET /repos/{owner}/{repo}/deployments/{id}/statuses":           {reading(listDeploymentStatuses), []string{"deployments=read"}},
		"GET /repos/{owner}/{repo}/git/commits/{sha}":                   {reading(getGitCommit), contents},
		"POST /repos/{owner}/{repo}/git/blobs":                          {writing(createBlob), []string{"contents=write"}},
		"POST /repos/{owner}/{repo}/git/trees":                          {writing(createTree), []string{"contents=write"}},
		"POST /repos/{owner}/{repo}/git/commits":                        {writing(createCommit), []string{"contents=write"}},
		"GET /repos/{owner}/{repo}/commits/{ref}/statuses":              {reading(listStatuses), statuses},
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs":            {reading(listChecks), []string{"checks=read"}},
		"GET /repos/{owner}/{repo}/commits/{ref}/pulls":                 {reading(listPullsOfCommit), pulls},
		"POST /repos/{owner}/{repo}/check-runs":                         {writing(createCheck), []string{"checks=write"}},
		"POST /repos/{owner}/{repo}/statuses/{sha}":                     {writing(createStatus), []string{"statuses=write"}},
		"GET /repos/{owner}/{repo}/pulls":                               {reading(listPulls), pulls},
		"POST /repos/{owner}/{repo}/pulls":                              {writing(createPull), edits},
		"GET /repos/{owner}/{repo}/pulls/{number}":                      {reading(onPull(getPull)), pulls},
		"PATCH /repos/{owner}/{repo}/pulls/{number}":                    {writing(onPull(editPull)), edits},
		"PUT /repos/{owner}/{repo}/pulls/{number}/merge":                {writing(onPull(mergePull)), []string{"contents=write"}},
		"GET /repos/{owner}/{repo}/pulls/{number}/reviews":              {reading(onPull(listReviews)), pulls},
		"POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers": {writing(onPull(requestReviewers)), edits},
		"GET /repos/{owner}/{repo}/issues/{number}":                     {reading(onPull(getIssue)), []string{"issues=read"}},
		"GET /repos/{owner}/{repo}/issues/{number}/events":              {reading(onPull(listEvents)), onIssues},
		"GET /repos/{owner}/{repo}/issues/{number}/comments":            {reading(onPull(listComments)), onIssues},
		"POST /repos/{owner}/{repo}/issues/{number}/comments":           {writing(onPull(createComment)), onPulls},
		"POST /repos/{owner}/{repo}/issues/{number}/labels":             {writing(onPull(addLabels)), onPulls},
		"POST /repos/{owner}/{repo}/issues/{number}/assignees":          {writing(onPull(addAssignees)), onPulls},
		"PATCH /repos/{owner}/{repo}/issues/comments/{id}":              {writing(onComment(editComment)), onPulls},
		"GET /repos/{owner}/{repo}/issues/comments":                     {reading(listAllComments), onIssues},
		"GET /repos/{owner}/{repo}/issues/comments/{id}/reactions":      {reading(onComment(listReactions)), onIssues},
		"POST /repos/{owner}/{repo}/issues/comments/{id}/reactions":     {writing(onComment(createReaction)), []string{"issues=write"}},
	}
}

// reading finds the repository and checks that the token can read it.
func reading(handle handler) handler {
	return func(c *call) *reply {
		name := c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
		found := c.s.hub.Find(name)
		if found == nil || found.Removed || !c.token.sees(found) {
			return refuse(http.StatusNotFound, "Not Found")
		}
		c.repo = own(found)
		if !found.IsNamed(name) {
			return moved(c, name)
		}
		return handle(c)
	}
}

// writing also checks that the repository and the token allow it.
func writing(handle handler) handler {
	return reading(func(c *call) *reply {
		switch {
		case c.token.anonymous():
			return refuse(http.StatusUnauthorized, "Requires authentication")
		case c.repo.model.Archived:
			return refuse(http.StatusForbidden, "Repository was archived so is read-only.")
		case c.token.installation != nil && !c.token.installation.has(c.repo.model):
			return refuse(http.StatusForbidden, "Resource not accessible by integration")
		case c.token.installation == nil && !c.token.pushes(c.repo.model):
			return refuse(http.StatusForbidden, "Resource not accessible by personal access token")
		}
		return handle(c)
	})
}

// moved redirects to the repository by its ID, as GitHub does after a rename.
func moved(c *call, name string) *reply {
	status := http.StatusMovedPermanently
	if c.r.Method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	rest := c.r.URL.EscapedPath()[len("/repos/")+len(name):]
	to := fmt.Sprintf("%srepositories/%d%s", c.s.API(), c.repo.model.ID, rest)
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	answer := refuse(status, "Moved Permanently")
	answer.Body = object{"message": "Moved Permanently", "url": to, "documentation_url": "https://docs.github.com/rest"}
	answer.Header.Set("Location", to)
	return answer
}

// onPull finds the pull request of the path.
func onPull(handle func(c *call, p *pull) *reply) handler {
	return func(c *call) *reply {
		number, err := strconv.Atoi(c.r.PathValue("number"))
		if err != nil || c.repo.model.Pulls[number] == nil {
			return refuse(http.StatusNotFound, "Not Found")
		}
		return handle(c, c.repo.model.Pulls[number])
	}
}

// read decodes the body; an invalid body fails the test.
func (c *call) read(into any) *reply {
	if c.s.hub.Front.Read(c.route, c.body, into) != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// page returns one page of a list, converted by draw, and links to the others.
func page[T any](c *call, all []T, draw func(*call, T) object) ([]object, http.Header) {
	query := c.r.URL.Query()
	at, header := forgetest.PageOf(query.Get("page"), query.Get("per_page"), 30, 100), http.Header{}
	if links := at.Links(c.s.API()+strings.TrimPrefix(c.r.URL.EscapedPath(), "/"), query, len(all)); links != "" {
		header.Set("Link", links)
	}
	return forgetest.DrawAll(c, forgetest.Cut(at, all), draw), header
}

// list returns one page of the elements, converted by draw.
func list[T any](c *call, all []T, draw func(*call, T) object) *reply {
	drawn, header := page(c, all, draw)
	return &reply{Status: http.StatusOK, Header: header, Body: drawn}
}
