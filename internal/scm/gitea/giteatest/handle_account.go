package giteatest

import (
	"net/http"
	"slices"
	"strconv"

	"promoter/internal/scm/forgetest"
)

func getUser(c *call) *reply {
	if c.token.anonymous() {
		return refuse(http.StatusUnauthorized, "token is required")
	}
	return ok(drawUser(c, c.who()))
}

func getUserByName(c *call) *reply {
	name := c.r.PathValue("username")
	u := c.s.hub.Users[lower(name)]
	if u == nil {
		return refuse(http.StatusNotFound, "user redirect does not exist [name: "+name+"]")
	}
	return ok(drawUser(c, u))
}

// getPermission returns permissions of other users only to administrators.
func getPermission(c *call) *reply {
	name := c.r.PathValue("user")
	if lower(c.who().Login) != lower(name) && !c.repo.model.Administers(c.who()) {
		return refuse(http.StatusForbidden, "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own")
	}
	u := c.s.hub.Users[lower(name)]
	if u == nil {
		return refuse(http.StatusNotFound, "user does not exist [uid: 0, name: "+name+"]")
	}
	permission := c.repo.model.Permission(u)
	if c.repo.throughTeam[lower(name)] {
		permission = "none"
	}
	return ok(object{"permission": permission, "role_name": permission, "user": drawUser(c, u)})
}

// assignable returns all users who may write, or read pull requests through a team.
func assignable(c *call) []*user {
	var users []*user
	for login := range c.repo.model.Permissions {
		if u := c.s.hub.User(login); c.repo.model.MayPush(u) || c.repo.throughTeam[login] {
			users = append(users, u)
		}
	}
	slices.SortFunc(users, func(a, b *user) int { return int(a.ID - b.ID) })
	return users
}

func listAssignees(c *call) *reply {
	return ok(forgetest.DrawAll(c, assignable(c), drawUser))
}

// listRepositoryTeams is for all users who may read the repository.
func listRepositoryTeams(c *call) *reply {
	if !c.s.orgs[lower(c.repo.model.Owner)] {
		return refuse(http.StatusMethodNotAllowed, "repo is not owned by an organization")
	}
	return ok(forgetest.DrawAll(c, c.repo.teams, drawTeam))
}

// belongs reports whether an account is in an organization, that is, in one of its
// teams.
func (s *Server) belongs(u *user, org string) bool {
	return slices.ContainsFunc(s.teams, func(t *team) bool { return lower(t.org) == lower(org) && t.members[lower(u.Login)] })
}

// listTeams is for members of the organization.
func listTeams(c *call) *reply {
	org := c.r.PathValue("org")
	switch {
	case !c.s.orgs[lower(org)]:
		return notFound()
	case !c.s.belongs(c.who(), org):
		return refuse(http.StatusForbidden, "Must be an organization member")
	}
	teams := slices.DeleteFunc(slices.Clone(c.s.teams), func(t *team) bool { return lower(t.org) != lower(org) })
	return list(c, teams, false, drawTeam)
}

// getMember is for members of the team.
func getMember(c *call) *reply {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	i := slices.IndexFunc(c.s.teams, func(t *team) bool { return t.id == id })
	if i < 0 || !c.s.belongs(c.who(), c.s.teams[i].org) {
		return notFound()
	}
	if !c.s.teams[i].members[lower(c.who().Login)] {
		return refuse(http.StatusForbidden, "Must be a team member")
	}
	name := lower(c.r.PathValue("user"))
	if !c.s.teams[i].members[name] {
		return notFound()
	}
	return ok(drawUser(c, c.s.hub.User(name)))
}

// listOrgLabels returns none: the labels of the repository are sufficient for the
// tests.
func listOrgLabels(c *call) *reply {
	if !c.s.orgs[lower(c.r.PathValue("org"))] {
		return notFound()
	}
	return list(c, []*label{}, false, drawLabel)
}
