package gitea

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// access is whether a user may push.
type access int

const (
	denied access = iota
	allowed
	hidden // Gitea does not show it to our account
)

// MayWrite queries Gitea on each call.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	noun := s.repo.noun("permission of %s", rest.OneLine(person.Login))
	may, err := s.access(ctx, person, s.roster)
	if err == nil && may == hidden {
		limit, err := s.limit(ctx)
		if err != nil {
			return false, explain(noun, err)
		}
		return false, fault.New(fault.Unauthorized, "%s: %s: %s", noun, limit.Reason, limit.Fix)
	}
	return may == allowed, explain(noun, err)
}

// writer is access, cached per reconciliation.
func (s signals) writer(ctx context.Context, person identity.User) (access, error) {
	return s.repo.writers.Get(strings.ToLower(person.Login), func() (access, error) {
		return s.access(ctx, person, s.keptRoster)
	})
}

// roster is what Gitea shows to every account about who may push.
type roster struct {
	assignable []*sdk.User
	teams      teams
}

func (s signals) roster(ctx context.Context) (*roster, error) {
	users, resp, err := s.repo.api(ctx).GetAssignees(s.repo.owner, s.repo.name)
	if err != nil {
		return nil, answered(resp, err)
	}
	found, err := s.teams(ctx)
	return &roster{users, found}, err
}

// keptRoster is roster, cached per reconciliation.
func (s signals) keptRoster(ctx context.Context) (*roster, error) {
	return s.repo.roster.Get(func() (*roster, error) { return s.roster(ctx) })
}

// access finds out whether a user may push. Gitea shows the permissions of users to
// administrators of the repository only, and to those without what a user may through a
// team. Everyone sees the users who may be assigned, and the teams: who may push is
// among the former, and the others there may read pull requests through a team.
func (s signals) access(ctx context.Context, person identity.User, read func(context.Context) (*roster, error)) (access, error) {
	if person.Bot || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return denied, nil
	}
	level, err := s.level(ctx, person)
	if err != nil || level != hidden && level != denied {
		return level, err
	}
	found, err := read(ctx)
	if err != nil {
		return hidden, err
	}
	if !slices.ContainsFunc(found.assignable, func(u *sdk.User) bool { return s.repo.forge.person(u).Same(person) }) {
		return denied, nil
	}
	switch {
	case found.teams.hidden:
		return hidden, nil
	case len(found.teams.readers) == 0 && (level == hidden || len(found.teams.writers) > 0):
		return allowed, nil
	}
	for _, team := range found.teams.writers {
		switch member, err := s.member(ctx, team, person); {
		case err != nil || member == allowed:
			return member, err
		case member == hidden:
			level = hidden
		}
	}
	return level, nil
}

// level returns what a user may without a team. A deleted account may nothing, nor one whose login
// another one has now.
func (s signals) level(ctx context.Context, person identity.User) (access, error) {
	if !s.repo.admin {
		return hidden, nil
	}
	level, resp, err := s.repo.api(ctx).CollaboratorPermission(s.repo.owner, s.repo.name, person.Login)
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound:
		return denied, nil
	case statusOf(err) == http.StatusForbidden && !strings.Contains(err.Error(), "scope"):
		return hidden, nil
	case err != nil:
		return hidden, err
	case s.another(level.User, person):
		return denied, nil
	case writes(level.Permission):
		return allowed, nil
	}
	return denied, nil
}

// another reports whether Gitea answered about another account than that of a user.
func (s signals) another(found *sdk.User, person identity.User) bool {
	now := s.repo.forge.person(found)
	return now.Login != "" && !now.Same(person)
}

func writes(mode sdk.AccessMode) bool {
	return mode == sdk.AccessModeOwner || mode == sdk.AccessModeAdmin || mode == sdk.AccessModeWrite
}

// teams are the teams of a repository by which Gitea lets users be assigned.
type teams struct {
	writers []*sdk.Team // may push, and are not administrators
	readers []string    // names of those that may not push
	hidden  bool        // they cannot be listed
}

// teams lists the teams with access to the repository. Only an organization has teams.
func (s signals) teams(ctx context.Context) (teams, error) {
	listed, resp, err := s.repo.api(ctx).GetRepoTeams(s.repo.owner, s.repo.name)
	switch err = answered(resp, err); statusOf(err) {
	case http.StatusMethodNotAllowed: // the owner is a user
		return teams{}, nil
	case http.StatusForbidden, http.StatusNotFound:
		return teams{hidden: true}, nil
	}
	var found teams
	for _, team := range listed {
		assignable := team.UnitsMap["repo.pulls"] != "none" && team.UnitsMap["repo.pulls"] != ""
		for _, mode := range team.UnitsMap {
			assignable = assignable || writes(sdk.AccessMode(mode))
		}
		switch {
		case team.Permission == sdk.AccessModeOwner || team.Permission == sdk.AccessModeAdmin:
		case writes(sdk.AccessMode(team.UnitsMap["repo.code"])) || team.UnitsMap == nil && writes(team.Permission):
			found.writers = append(found.writers, team)
		case assignable || team.UnitsMap == nil:
			found.readers = append(found.readers, team.Name)
		}
	}
	return found, err
}

// member reports whether a user is in a team. Gitea shows that to the members of the
// team and to owners of the organization. Users outside of the organization get the same
// response as for a user who is not in the team.
func (s signals) member(ctx context.Context, team *sdk.Team, person identity.User) (access, error) {
	err := s.inTeam(ctx, team.ID, person)
	switch status := statusOf(err); {
	case err == nil:
		return allowed, nil
	case status == http.StatusForbidden:
		return hidden, nil
	case status != http.StatusNotFound:
		return hidden, err
	}
	switch err := s.inTeam(ctx, team.ID, s.repo.info.Self); statusOf(err) {
	case http.StatusForbidden, http.StatusNotFound:
		return hidden, nil
	default:
		return denied, err
	}
}

// PermissionLimit returns for which users Gitea does not show whether they may push.
func (r *repository) PermissionLimit(ctx context.Context) (scm.PermissionLimit, error) {
	kept, err := r.forge.limits.Get(r.info.Key, func() (*rest.Hourly[scm.PermissionLimit], error) {
		return &rest.Hourly[scm.PermissionLimit]{}, nil
	})
	if err != nil {
		return scm.PermissionLimit{}, err
	}
	limit, err := kept.Get(r.forge.now(), func() (scm.PermissionLimit, error) { return signals{r}.limit(ctx) })
	return limit, explain(r.noun("permissions of users"), err)
}

// limit returns the zero value if access is never hidden.
func (s signals) limit(ctx context.Context) (scm.PermissionLimit, error) {
	found, err := s.teams(ctx)
	if err != nil || !found.hidden && (len(found.readers) == 0 || s.repo.admin && len(found.writers) == 0) {
		return scm.PermissionLimit{}, err
	}
	var unseen []string
	for _, team := range found.writers {
		member, err := s.member(ctx, team, s.repo.info.Self)
		if err != nil {
			return scm.PermissionLimit{}, err
		}
		if member != allowed {
			unseen = append(unseen, s.repo.owner+"/"+team.Name)
		}
	}
	fix := "make " + s.repo.info.Self.Login
	wanted := strings.Join(unseen, ", ")
	switch {
	case !s.repo.admin:
		limit := scm.PermissionLimit{
			All: len(unseen) == len(found.writers), Reason: "Gitea shows only to administrators of the repository which users may push",
			Fix: fix + " an administrator of the repository",
		}
		if wanted != "" {
			limit.Fix += ", and a member of " + wanted
		}
		return limit, nil
	case wanted == "" && !found.hidden:
		return scm.PermissionLimit{}, nil
	}
	return scm.PermissionLimit{
		Reason: "Gitea shows only to members of a team who may push through it",
		Fix:    fix + " a member of " + cmp.Or(wanted, "the organization"),
	}, nil
}
