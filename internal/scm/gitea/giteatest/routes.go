package giteatest

import (
	"net/http"
	"strconv"
	"strings"

	"promoter/internal/scm/forgetest"
)

// endpoint is one route: the scope that a token needs, the known parameters, and the
// handler.
type endpoint struct {
	scope  string
	query  string
	handle func(c *call) *reply
}

// paged lists the parameters of lists.
const paged = "page limit"

// endpoints returns the routes by method and path, in which /r/ is the repository.
func endpoints() map[string]endpoint {
	const commits = "files stat verification"
	short := map[string]endpoint{
		"GET /user":                      {"user", "", getUser},
		"GET /users/{username}":          {"user", "", getUserByName},
		"GET /orgs/{org}/teams":          {"organization", paged, listTeams},
		"GET /orgs/{org}/labels":         {"organization", paged, listOrgLabels},
		"GET /teams/{id}/members/{user}": {"organization", "", getMember},

		"GET /repos/{owner}/{repo}":              {"repository", "", reading(getRepository)},
		"GET /r/collaborators/{user}/permission": {"repository", "", reading(getPermission)},
		"GET /r/assignees":                       {"repository", "", reading(listAssignees)},
		"GET /r/teams":                           {"repository", "", reading(listRepositoryTeams)},
		"GET /r/branches/{branch...}":            {"repository", "", reading(getBranch)},
		"GET /r/activities/feeds":                {"repository", paged + " date", reading(listFeed)},
		"GET /r/branch_protections":              {"repository", paged, reading(listProtections)},
		"GET /r/compare/{basehead...}":           {"repository", commits, reading(compare)},
		"GET /r/releases":                        {"repository", paged + " draft pre-release", reading(listReleases)},
		"GET /r/releases/tags/{tag}":             {"repository", "", reading(getRelease)},
		"GET /r/git/commits/{sha}":               {"repository", commits, reading(getCommit)},
		"GET /r/git/refs/{ref...}":               {"repository", "", reading(getRefs)},
		"GET /r/commits/{ref}/statuses":          {"repository", paged + " sort state", reading(listStatuses)},
		"GET /r/commits/{ref}/pull":              {"repository", "", reading(getPullOfCommit)},
		"POST /r/statuses/{sha}":                 {"repository", "", writing(createStatus)},

		"GET /r/pulls":                               {"repository", paged + " state sort milestone labels poster base_branch", reading(settled(listPulls))},
		"POST /r/pulls":                              {"repository", "", writing(unarchived(createPull))},
		"GET /r/pulls/{number}":                      {"repository", "", reading(onPull(getPull))},
		"GET /r/pulls/{base}/{head...}":              {"repository", "", reading(getPullByBranches)},
		"PATCH /r/pulls/{number}":                    {"repository", "", writing(onPull(editPull))},
		"POST /r/pulls/{number}/merge":               {"repository", "", writing(unarchived(onPull(mergePull)))},
		"GET /r/pulls/{number}/reviews":              {"repository", paged, reading(onPull(listReviews))},
		"POST /r/pulls/{number}/requested_reviewers": {"repository", "", writing(onPull(requestReviewers))},

		"GET /r/labels":                    {"issue", paged, reading(listLabels)},
		"POST /r/labels":                   {"issue", "", writing(createLabel)},
		"GET /r/issues/{number}/timeline":  {"issue", paged + " since before", reading(onPull(listTimeline))},
		"GET /r/issues/{number}/comments":  {"issue", paged + " since before", reading(onPull(listComments))},
		"POST /r/issues/{number}/comments": {"issue", "", writing(unarchived(onPull(createComment)))},
		"POST /r/issues/{number}/labels":   {"issue", "", writing(onPull(addLabels))},
		"PATCH /r/issues/comments/{id}":    {"issue", "", writing(onComment(editComment))},
		"GET /r/issues/comments":           {"issue", paged + " since before", reading(listAllComments)},

		"GET /r/issues/comments/{id}/reactions":  {"issue", "", reading(onComment(listReactions))},
		"POST /r/issues/comments/{id}/reactions": {"issue", "", writing(onComment(createReaction))},
	}
	all := map[string]endpoint{}
	for pattern, one := range short {
		method, path, _ := strings.Cut(pattern, " ")
		all[method+" "+strings.Replace(path, "/r/", "/repos/{owner}/{repo}/", 1)] = one
	}
	return all
}

// reading finds the repository and checks that the token can read it.
func reading(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		name := c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
		found := c.s.hub.Find(name)
		if found == nil || found.Removed || !c.token.sees(found) {
			return notFound()
		}
		c.repo = own(found)
		if !found.IsNamed(name) {
			return moved(c, name)
		}
		return handle(c)
	}
}

// writing also requires a credential. Each handler checks its own permission: they
// differ.
func writing(handle func(c *call) *reply) func(c *call) *reply {
	return reading(func(c *call) *reply {
		if c.token.anonymous() {
			return refuse(http.StatusUnauthorized, "token is required")
		}
		return handle(c)
	})
}

// settled finds nothing while the repository is still called empty.
func settled(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		if c.repo.settles() {
			return notFound()
		}
		return handle(c)
	}
}

// unarchived refuses what an archived repository does not allow. It allows other
// writes.
func unarchived(handle func(c *call) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		if c.repo.model.Archived {
			return refuse(http.StatusLocked, c.repo.model.FullName()+" is archived")
		}
		return handle(c)
	}
}

// moved redirects to the current name. A client repeats the request as GET.
func moved(c *call, name string) *reply {
	answer := bare(http.StatusMovedPermanently)
	to := prefix + "/repos/" + c.repo.model.FullName() + c.r.URL.EscapedPath()[len("/repos/")+len(name):]
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	answer.Header.Set("Location", to)
	if c.r.Method == http.MethodGet {
		answer.Header.Set("Content-Type", "text/html; charset=utf-8")
		answer.Body = forgetest.Plain(`<a href="` + to + `">Moved Permanently</a>.` + "\n\n")
	}
	return answer
}

// onPull finds the pull request of the path.
func onPull(handle func(c *call, p *pull) *reply) func(c *call) *reply {
	return func(c *call) *reply {
		number, err := strconv.Atoi(c.r.PathValue("number"))
		if err != nil || c.repo.model.Pulls[number] == nil {
			return notFound()
		}
		return handle(c, c.repo.model.Pulls[number])
	}
}

// read decodes the body; an invalid body fails the test.
func (c *call) read(into any) *reply {
	if err := c.s.hub.Front.Read(c.route, c.body, into); err != nil {
		return refuse(http.StatusUnprocessableEntity, err.Error())
	}
	return nil
}

// pageAsked returns the requested page of a list.
func (c *call) pageAsked() forgetest.Page {
	query := c.r.URL.Query()
	return forgetest.PageOf(query.Get("page"), query.Get("limit"), 30, c.s.maxItems)
}

// page returns one page of a list. Every list reports its length; only some link to
// the other pages.
func page[T any](c *call, all []T, linked bool) ([]T, http.Header) {
	at := c.pageAsked()
	header := http.Header{}
	header.Set("X-Total-Count", itoa(len(all)))
	links := at.Links(c.s.URL()+prefix+c.r.URL.EscapedPath(), c.r.URL.Query(), len(all))
	if linked && links != "" {
		header.Set("Link", links)
	}
	return forgetest.Cut(at, all), header
}

// list returns one page of the elements, converted by draw.
func list[T any](c *call, all []T, linked bool, draw func(*call, T) object) *reply {
	c.listing = true
	part, header := page(c, all, linked)
	drawn := forgetest.DrawAll(c, part, draw)
	return &reply{Status: http.StatusOK, Header: header, Body: drawn}
}
