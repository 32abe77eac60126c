package gitea

import (
	"context"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Reviews lists all submitted reviews. Whether a reviewer may push is queried once
// per user, and only for reviews that could count. Where Gitea does not show it, those
// reviews count that Gitea calls official.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if !s.repo.features.Approvals {
		return nil, nil
	}
	noun := s.repo.noun("reviews of pull request %d", number)
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return s.repo.api(ctx).ListPullReviews(s.repo.owner, s.repo.name, int64(number), sdk.ListPullReviewsOptions{ListOptions: page})
	}, all[*sdk.PullReview])
	if err != nil {
		return nil, explain(noun, err)
	}
	var reviews []scm.Review
	for _, given := range found {
		review, ok := s.reviewOf(given)
		if !ok {
			continue
		}
		if review.State == scm.Approved || review.State == scm.ChangesRequested {
			may, err := s.writer(ctx, review.Author)
			if err != nil {
				return nil, explain(noun, err)
			}
			review.MayWrite = may == allowed || may == hidden && given.Official
			review.Unofficial = !given.Official
		}
		reviews = append(reviews, review)
	}
	return reviews, nil
}

// reviewOf omits review requests, and our own pending reviews.
func (s signals) reviewOf(given *sdk.PullReview) (scm.Review, bool) {
	review := scm.Review{Author: s.repo.forge.reviewer(given.Reviewer), Commit: given.CommitID, At: given.Submitted.UTC()}
	switch given.State {
	case sdk.ReviewStateApproved:
		review.State = scm.Approved
	case sdk.ReviewStateRequestChanges:
		review.State = scm.ChangesRequested
	case sdk.ReviewStateComment:
		review.State = scm.Commented
	default:
		return scm.Review{}, false
	}
	if given.Dismissed {
		review.State = scm.Dismissed
	}
	return review, true
}

// Member queries a membership. Gitea shows the teams of an organization to its
// members, and the members of a team to the team and to owners.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	group, name, _ := strings.Cut(team, "/")
	if !rest.IsName(group) || !rest.IsName(name) || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return false, nil
	}
	noun := "members of team " + team
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.Team, *sdk.Response, error) {
		return s.repo.api(ctx).ListOrgTeams(group, sdk.ListTeamsOptions{ListOptions: page})
	}, func(one *sdk.Team) (int64, bool) { return one.ID, identity.SameLogin(one.Name, name) })
	if err != nil {
		return false, s.teamFault(noun, err)
	}
	if len(found) == 0 {
		return false, nil
	}
	err = s.inTeam(ctx, found[0], person)
	return err == nil, s.teamFault(noun, err)
}

// Account implements scm.Accounts. Gitea does not show private accounts, and answers about a renamed one.
func (r *repository) Account(ctx context.Context, login string) (identity.User, error) {
	if !rest.IsName(login) {
		return identity.User{}, nil
	}
	found, resp, err := r.api(ctx).GetUserInfo(login)
	err = answered(resp, err)
	if statusOf(err) == http.StatusNotFound {
		return identity.User{}, nil
	}
	if account := r.forge.person(found); err == nil && identity.SameLogin(account.Login, login) {
		return account, nil
	}
	return identity.User{}, explain("account of "+rest.OneLine(login), err)
}

// inTeam returns nil for a member of a team.
func (s signals) inTeam(ctx context.Context, team int64, person identity.User) error {
	found, resp, err := s.repo.api(ctx).GetTeamMember(team, person.Login)
	if err = answered(resp, err); err == nil && s.another(found, person) {
		err = &refusedError{status: http.StatusNotFound, words: person.Login + " is the login of another account now"}
	}
	return err
}

// teamFault returns the error for a team that cannot be read. A team that does not
// exist has no members.
func (s signals) teamFault(noun string, err error) error {
	if err == nil || statusOf(err) == http.StatusNotFound {
		return nil
	}
	err = explain(noun, err)
	if fault.KindOf(err) == fault.Unauthorized && strings.Contains(err.Error(), "Must be") {
		return fault.New(fault.Unauthorized,
			"%w: take %s into the team, or make it an owner of the organization", err, s.repo.info.Self.Login)
	}
	return err
}
