package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// endpoint is the handler of one route.
type endpoint func(c *call) *reply

// endpoints returns the handlers by method and path.
func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"GET /user":         getUser,
		"GET /users/{user}": getNamedUser,
		"GET /rate_limit":   getRateLimit,

		"POST /app-manifests/{code}/conversions": convertManifest,

		"GET /app":               asApp(getApp),
		"GET /app/installations": asApp(listInstallations),
		"POST /app/installations/{id}/access_tokens":   asApp(createToken),
		"GET /repos/{owner}/{repo}/installation":       asApp(getRepositoryInstallation),
		"GET /installation/repositories":               listInstallationRepositories,
		"GET /repos/{owner}/{repo}/contents/{path...}": reading(getContents),

		"GET /orgs/{org}/teams/{team}/memberships/{user}":           getMembership,
		"GET /repos/{owner}/{repo}":                                 reading(getRepository),
		"GET /repos/{owner}/{repo}/collaborators/{user}/permission": reading(getPermission),
		"GET /repos/{owner}/{repo}/branches/{branch...}":            reading(getBranch),
		"GET /repos/{owner}/{repo}/branches/{branch}/protection":    reading(getProtection),
		"GET /repos/{owner}/{repo}/rules/branches/{branch...}":      reading(listRules),
		"GET /repos/{owner}/{repo}/rulesets/{id}":                   reading(getRuleset),
		"GET /repos/{owner}/{repo}/compare/{basehead...}":           reading(compare),
		"GET /repos/{owner}/{repo}/releases":                        reading(listReleases),
		"GET /repos/{owner}/{repo}/git/commits/{sha}":               reading(getGitCommit),

		"GET /repos/{owner}/{repo}/commits/{ref}/status":     reading(combinedStatus),
		"GET /repos/{owner}/{repo}/commits/{ref}/statuses":   reading(listStatuses),
		"GET /repos/{owner}/{repo}/commits/{ref}/check-runs": reading(listChecks),
		"POST /repos/{owner}/{repo}/statuses/{sha}":          writing(createStatus),

		"GET /repos/{owner}/{repo}/pulls":                               reading(listPulls),
		"POST /repos/{owner}/{repo}/pulls":                              writing(createPull),
		"GET /repos/{owner}/{repo}/pulls/{number}":                      reading(onPull(getPull)),
		"PATCH /repos/{owner}/{repo}/pulls/{number}":                    writing(onPull(editPull)),
		"PUT /repos/{owner}/{repo}/pulls/{number}/merge":                writing(onPull(mergePull)),
		"GET /repos/{owner}/{repo}/pulls/{number}/reviews":              reading(onPull(listReviews)),
		"POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers": writing(onPull(requestReviewers)),

		"GET /repos/{owner}/{repo}/issues/{number}":            reading(onPull(getIssue)),
		"GET /repos/{owner}/{repo}/issues/{number}/events":     reading(onPull(listEvents)),
		"GET /repos/{owner}/{repo}/issues/{number}/comments":   reading(onPull(listComments)),
		"POST /repos/{owner}/{repo}/issues/{number}/comments":  writing(onPull(createComment)),
		"POST /repos/{owner}/{repo}/issues/{number}/labels":    writing(onPull(addLabels)),
		"POST /repos/{owner}/{repo}/issues/{number}/assignees": writing(onPull(addAssignees)),
		"PATCH /repos/{owner}/{repo}/issues/comments/{id}":     writing(onComment(editComment)),

		"GET /repos/{owner}/{repo}/issues/comments":                 reading(listAllComments),
		"POST /repos/{owner}/{repo}/issues/comments/{id}/reactions": writing(onComment(createReaction)),
	}
}

// reading finds the repository and checks that the token can read it.
func reading(handler endpoint) endpoint {
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
		return handler(c)
	}
}

// writing also checks that the repository and the token allow it.
func writing(handler endpoint) endpoint {
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
		return handler(c)
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
func onPull(handler func(c *call, p *pull) *reply) endpoint {
	return func(c *call) *reply {
		number, err := strconv.Atoi(c.r.PathValue("number"))
		if err != nil || c.repo.model.Pulls[number] == nil {
			return refuse(http.StatusNotFound, "Not Found")
		}
		return handler(c, c.repo.model.Pulls[number])
	}
}

// read decodes the body; an invalid body fails the test.
func (c *call) read(into any) *reply {
	if c.s.hub.Front.Read(c.route, c.body, into) != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// page returns one page of a list and links to the others.
func page[T any](c *call, all []T) ([]T, http.Header) {
	query := c.r.URL.Query()
	at := forgetest.PageOf(query.Get("page"), query.Get("per_page"), 30, 100)
	var links []string
	link := func(to int, relation string) {
		links = append(links, forgetest.Link(c.s.API()+strings.TrimPrefix(c.r.URL.EscapedPath(), "/"), query, to, relation))
	}
	if at.Number > 1 {
		link(at.Number-1, "prev")
		link(1, "first")
	}
	if last := at.Last(len(all)); at.Number < last {
		link(at.Number+1, "next")
		link(last, "last")
	}
	header := http.Header{}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ", "))
	}
	return forgetest.Cut(at, all), header
}

// list returns one page of the elements, converted by draw.
func list[T any](c *call, all []T, draw func(*call, T) object) *reply {
	part, header := page(c, all)
	drawn := []object{}
	for _, one := range part {
		drawn = append(drawn, draw(c, one))
	}
	return &reply{Status: http.StatusOK, Header: header, Body: drawn}
}
