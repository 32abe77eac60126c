package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"promoter/internal/scm/forgetest"
)

func getApp(c *call) *reply { return ok(drawGitHubApp(c, c.token.app)) }

func drawGitHubApp(c *call, a *App) object {
	return object{
		"id": a.id, "slug": a.slug, "node_id": node(a.id), "client_id": "Iv23li" + strconv.FormatInt(a.id, 10), "owner": drawUser(c, a.owner), "name": a.slug,
		"description": nil, "external_url": "https://promoter.example.com", "html_url": c.s.URL() + "/apps/" + a.slug, "created_at": "2020-01-01T00:00:00Z",
		"updated_at": "2020-01-01T00:00:00Z", "permissions": a.permissions, "events": append([]string{}, a.events...), "installations_count": len(a.installed()),
	}
}

func listInstallations(c *call) *reply {
	return list(c, c.token.app.installed(), drawInstallation)
}

func getRepositoryInstallation(c *call) *reply {
	name := c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
	repo := c.s.hub.Find(name)
	for _, i := range c.token.app.installed() {
		if repo != nil && i.has(repo) {
			return ok(drawInstallation(c, i))
		}
	}
	return refuse(http.StatusNotFound, "Not Found")
}

func drawInstallation(c *call, i *Installation) object {
	url := fmt.Sprintf("%sapp/installations/%d", c.s.API(), i.id)
	var suspended, by any
	if !i.suspended.IsZero() {
		suspended, by = i.suspended.Format(time.RFC3339), drawUser(c, c.s.hub.User("owner-of-"+i.account.Login))
	}
	return object{
		"id": i.id, "app_id": i.app.id, "app_slug": i.app.slug, "target_id": i.account.ID, "target_type": "Organization", "account": drawUser(c, i.account),
		"repository_selection": i.selection(), "access_tokens_url": url + "/access_tokens", "repositories_url": c.s.API() + "installation/repositories",
		"html_url": fmt.Sprintf("%s/organizations/%s/settings/installations/%d", c.s.URL(), i.account.Login, i.id), "permissions": i.permissions, "events": []string{},
		"created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z", "single_file_name": nil, "suspended_at": suspended, "suspended_by": by,
	}
}

func (i *Installation) selection() string {
	return map[bool]string{true: "all", false: "selected"}[i.all]
}

// createToken creates a token for an hour, with the requested permissions or all
// accepted ones.
func createToken(c *call) *reply {
	var body struct {
		Permissions map[string]string `json:"permissions"`
	}
	if refused := c.read(&body); refused != nil {
		return refused
	}
	var of *Installation
	for _, i := range c.token.app.installed() {
		if strconv.FormatInt(i.id, 10) == c.r.PathValue("id") {
			of = i
		}
	}
	switch {
	case of == nil:
		return refuse(http.StatusNotFound, "Not Found")
	case !of.suspended.IsZero():
		return refuse(http.StatusForbidden, "This installation has been suspended")
	case !of.accepts(body.Permissions):
		return refuse(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
	}
	permissions := body.Permissions
	if len(permissions) == 0 {
		permissions = maps.Clone(of.permissions)
	}
	made := &token{owner: of.app.bot, installation: of, permissions: permissions, expires: c.s.hub.Now().Add(tokenLife), known: c.s.hub.Now().Add(c.s.lateTokens)}
	text := fmt.Sprintf("ghs_%036d", c.s.hub.NextID())
	c.s.tokens[text] = made
	return created(object{"token": text, "expires_at": made.expires.Format(time.RFC3339), "permissions": permissions, "repository_selection": of.selection()})
}

func (i *Installation) accepts(asked map[string]string) bool {
	for name, access := range asked {
		if held := i.permissions[name]; held != "write" && held != access {
			return false
		}
	}
	return true
}

func listInstallationRepositories(c *call) *reply {
	if c.token.installation == nil {
		return refuse(http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
	}
	all := c.token.installation.repositories()
	drawn, header := page(c, all, func(c *call, one *forgetest.Repository) object { return drawRepository(c, one, c.who()) })
	return &reply{Status: http.StatusOK, Header: header, Body: object{
		"total_count": len(all), "repository_selection": c.token.installation.selection(), "repositories": drawn,
	}}
}

func getUser(c *call) *reply {
	if c.token.anonymous() {
		return refuse(http.StatusUnauthorized, "Requires authentication")
	}
	return ok(drawSelf(c, c.who()))
}

// getUserByName returns a public account. That of an App is its bot, SLUG[bot].
// https://docs.github.com/en/rest/users/users#get-a-user
func getUserByName(c *call) *reply {
	u := c.s.hub.Users[lower(c.r.PathValue("user"))]
	if u == nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return ok(drawSelf(c, u))
}

// getMembership returns active members only; GitHub hides teams from callers without
// read:org, so that a missing scope looks like a missing membership.
func getMembership(c *call) *reply {
	name := c.r.PathValue("org") + "/" + c.r.PathValue("team")
	if c.token.installation == nil && !c.token.has("read:org") && !c.token.has("repo") || !c.s.teams[lower(name)][lower(c.r.PathValue("user"))] {
		answer := refuse(http.StatusNotFound, "Not Found")
		answer.Header.Set("X-Accepted-OAuth-Scopes", "admin:org, read:org, repo, user, write:org")
		return answer
	}
	return ok(object{"role": "member", "state": "active", "url": c.s.API() + "teams/1/memberships/" + c.r.PathValue("user")})
}

func getPermission(c *call) *reply {
	u := c.s.hub.Users[lower(c.r.PathValue("user"))]
	switch {
	case u == nil:
		return refuse(http.StatusNotFound, c.r.PathValue("user")+" is not a user")
	case c.token.installation == nil && !c.token.pushes(c.repo.model):
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	permission := c.repo.model.Permission(u)
	drawn := drawUser(c, u)
	drawn["role_name"] = permission
	drawn["permissions"] = drawPermissions(c.repo.model, u)
	return ok(object{"permission": permission, "role_name": permission, "user": drawn})
}
