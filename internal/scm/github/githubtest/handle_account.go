package githubtest

import "net/http"

func getUser(c *call) *reply {
	if c.token.anonymous() {
		return refuse(http.StatusUnauthorized, "Requires authentication")
	}
	return ok(drawSelf(c, c.who()))
}

func getNamedUser(c *call) *reply {
	u := c.s.hub.Users[lower(c.r.PathValue("user"))]
	if u == nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	return ok(drawSelf(c, u))
}

func getRateLimit(c *call) *reply {
	rate := object{"limit": hourlyLimit, "used": c.s.used, "remaining": hourlyLimit - c.s.used, "reset": c.s.hub.Front.Now().Unix() + 3600}
	return ok(object{"rate": rate, "resources": object{"core": rate, "search": rate}})
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
	drawn["permissions"] = drawPermissions(c, c.repo.model, u)
	return ok(object{"permission": permission, "role_name": permission, "user": drawn})
}
