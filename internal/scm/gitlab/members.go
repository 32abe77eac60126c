package gitlab

import (
	"context"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
)

// developer is the lowest role that may push. Custom roles have the level of their
// base role.
// https://docs.gitlab.com/api/access_requests/#valid-access-levels
const developer = int(gogitlab.DeveloperPermissions)

// level returns the role of an account in the project, including roles inherited from
// its groups and from invited groups. Zero: none, or the account is blocked.
func (r *repository) level(ctx context.Context, id int) (int, error) {
	member, _, err := r.forge.api.ProjectMembers.GetInheritedProjectMember(r.id, id, in(ctx))
	if wasNotFound(err) || err == nil && member.State != "active" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return int(member.AccessLevel), nil
}

// ownLevel returns the role of our account. The project includes it, unless it comes
// from an invited group.
func (r *repository) ownLevel(ctx context.Context, found *gogitlab.Project, self int) (int, error) {
	told := found.Permissions
	if told == nil {
		return developer, nil // not reported by GitLab
	}
	level := 0
	if told.ProjectAccess != nil {
		level = int(told.ProjectAccess.AccessLevel)
	}
	if told.GroupAccess != nil {
		level = max(level, int(told.GroupAccess.AccessLevel))
	}
	if level >= developer {
		return level, nil
	}
	return r.level(ctx, self)
}

// MayWrite queries GitLab on each call.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	noun := s.noun("role of %s", rest.OneLine(person.Login))
	id, err := s.userID(ctx, person)
	if err != nil || id == 0 || person.Bot {
		return false, explain(noun, err)
	}
	level, err := s.level(ctx, id)
	return level >= developer, explain(noun, err)
}

// Member queries a membership of a group, including inherited membership. GitLab
// hides groups from users who may not see them: those are empty.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	noun := "members of group " + rest.OneLine(team)
	if !isPath(team) {
		return false, nil
	}
	id, err := s.userID(ctx, person)
	if err != nil || id == 0 {
		return false, explain(noun, err)
	}
	member, _, err := s.forge.api.GroupMembers.GetInheritedGroupMember(strings.ToLower(team), id, in(ctx))
	if wasNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, explain(noun, err)
	}
	return member.State == "active" && member.AccessLevel > gogitlab.NoPermissions, nil
}
