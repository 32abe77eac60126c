package githubtest

import "net/http"

func (c *call) getUser() *reply {
	if c.token.anonymous() {
		return refuse(http.StatusUnauthorized, "Requires authentication")
	}
	return ok(c.drawSelf(c.who()))
}

func (c *call) getNamedUser() *reply {
	u := c.users[lower(c.r.PathValue("user"))]
	if u == nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return ok(c.drawSelf(u))
}

func (c *call) getRateLimit() *reply {
	rate := object{"limit": hourlyLimit, "used": c.used, "remaining": hourlyLimit - c.used, "reset": c.now().Unix() + 3600}
	return ok(object{"rate": rate, "resources": object{"core": rate, "search": rate}})
}

// getMembership returns active members only; GitHub hides teams from callers without
// read:org, so that a missing scope looks like a missing membership.
func (c *call) getMembership() *reply {
	name := c.r.PathValue("org") + "/" + c.r.PathValue("team")
	if c.token.installation == nil && !c.token.has("read:org") && !c.token.has("repo") || !c.teams[lower(name)][lower(c.r.PathValue("user"))] {
		answer := refuse(http.StatusNotFound, "Not Found")
		answer.Header.Set("X-Accepted-OAuth-Scopes", "admin:org, read:org, repo, user, write:org")
		return answer
	}
	return ok(object{"role": "member", "state": "active", "url": c.API() + "teams/1/memberships/" + c.r.PathValue("user")})
}

func (c *call) getPermission() *reply {
	u := c.users[lower(c.r.PathValue("user"))]
	switch {
	case u == nil:
		return refuse(http.StatusNotFound, c.r.PathValue("user")+" is not a user")
	case c.token.installation == nil && !c.token.pushes(c.repo):
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	permission := c.repo.permission(u)
	drawn := c.drawUser(u)
	drawn["role_name"] = permission
	drawn["permissions"] = c.drawPermissions(c.repo, u)
	return ok(object{"permission": permission, "role_name": permission, "user": drawn})
}
