package gitea

import (
	"context"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
)

// Member queries a membership. Gitea shows the teams of an organization to its
// members, and the members of a team to the team and to owners.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	group, name, _ := strings.Cut(team, "/")
	if !isName(group) || !isName(name) || !isName(person.Login) || !strings.EqualFold(person.Host, s.forge.host) {
		return false, nil
	}
	noun := "members of team " + team
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.Team, *sdk.Response, error) {
		return s.forge.api(ctx).ListOrgTeams(group, sdk.ListTeamsOptions{ListOptions: page})
	}, func(one *sdk.Team) (int64, bool) { return one.ID, strings.EqualFold(one.Name, name) })
	if err != nil {
		return false, s.teamFault(noun, err)
	}
	if len(found) == 0 {
		return false, nil
	}
	_, resp, err := s.forge.api(ctx).GetTeamMember(found[0], person.Login)
	if err != nil {
		return false, s.teamFault(noun, answered(resp, err))
	}
	return true, nil
}

// teamFault returns the error for a team that cannot be read. A team that does not
// exist has no members.
func (s signals) teamFault(noun string, err error) error {
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	err = explain(noun, err)
	if fault.KindOf(err) == fault.Unauthorized && strings.Contains(err.Error(), "Must be") {
		return fault.New(fault.Unauthorized, "%w: take %s into the team, or make it an owner of the organization", err, s.info.Self.Login)
	}
	return err
}
