package gitea

import (
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

// Reviews lists all submitted reviews. Whether a reviewer may push is queried once
// per user, and only for reviews that could count.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if s.repository.withoutPull {
		return nil, nil
	}
	noun := s.repository.noun("reviews of pull request %d", number)
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return s.repository.forge.api(ctx).ListPullReviews(s.repository.owner, s.repository.name, int64(number), sdk.ListPullReviewsOptions{ListOptions: page})
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
			if review.MayWrite, err = s.counts(ctx, review, given.Official); err != nil {
				return nil, explain(noun, err)
			}
		}
		reviews = append(reviews, review)
	}
	return reviews, nil
}

// reviewOf omits review requests, and our own pending reviews.
func (s signals) reviewOf(given *sdk.PullReview) (scm.Review, bool) {
	review := scm.Review{Author: s.repository.forge.person(given.Reviewer), Commit: given.CommitID, At: given.Submitted.UTC()}
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

// counts reports whether a reviewer may push. Gitea returns that to administrators of
// the repository; other users see which reviews Gitea itself counts.
func (s signals) counts(ctx context.Context, review scm.Review, official bool) (bool, error) {
	may, known, err := s.writer(ctx, review.Author)
	if err != nil || known {
		return may, err
	}
	return official, nil
}

// writer reports whether a user may push, cached per reconciliation, and whether that
// is known.
func (s signals) writer(ctx context.Context, person identity.User) (may, known bool, err error) {
	login := strings.ToLower(person.Login)
	s.repository.mu.Lock()
	may, known = s.repository.writers[login]
	s.repository.mu.Unlock()
	if known {
		return may, true, nil
	}
	may, known, err = s.permitted(ctx, person)
	if err != nil || !known {
		return false, known, err
	}
	s.repository.mu.Lock()
	defer s.repository.mu.Unlock()
	s.repository.writers[login] = may
	return may, true, nil
}

// permitted fetches a permission. A deleted account has none. Gitea returns the
// permissions of other users only to administrators of the repository.
func (s signals) permitted(ctx context.Context, person identity.User) (may, known bool, err error) {
	if person.Bot || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repository.forge.host) {
		return false, true, nil
	}
	level, resp, err := s.repository.forge.api(ctx).CollaboratorPermission(s.repository.owner, s.repository.name, person.Login)
	switch err = answered(resp, err); {
	case statusOf(err) == http.StatusNotFound:
		return false, true, nil
	case statusOf(err) == http.StatusForbidden && !strings.Contains(err.Error(), "scope"):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	switch level.Permission {
	case sdk.AccessModeOwner, sdk.AccessModeAdmin, sdk.AccessModeWrite:
		return true, true, nil
	}
	return false, true, nil
}

// MayWrite queries Gitea on each call. To a non-administrator, Gitea returns the
// users who may be assigned: a user who is not among them may not push; for the
// others it is unknown.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	noun := s.repository.noun("permission of %s", rest.OneLine(person.Login))
	may, known, err := s.permitted(ctx, person)
	if err != nil || known {
		return may, explain(noun, err)
	}
	users, resp, err := s.repository.forge.api(ctx).GetAssignees(s.repository.owner, s.repository.name)
	if err != nil {
		return false, explain(noun, answered(resp, err))
	}
	if !slices.ContainsFunc(users, func(u *sdk.User) bool { return s.repository.forge.person(u).Same(person) }) {
		return false, nil
	}
	return false, fault.New(fault.Unauthorized, "%s: Gitea shows it only to administrators of the repository: make %s one", noun, s.repository.info.Self.Login)
}

// Member queries a membership. Gitea shows the teams of an organization to its
// members, and the members of a team to the team and to owners.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	group, name, _ := strings.Cut(team, "/")
	if !rest.IsName(group) || !rest.IsName(name) || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repository.forge.host) {
		return false, nil
	}
	noun := "members of team " + team
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.Team, *sdk.Response, error) {
		return s.repository.forge.api(ctx).ListOrgTeams(group, sdk.ListTeamsOptions{ListOptions: page})
	}, func(one *sdk.Team) (int64, bool) { return one.ID, strings.EqualFold(one.Name, name) })
	if err != nil {
		return false, s.teamFault(noun, err)
	}
	if len(found) == 0 {
		return false, nil
	}
	_, resp, err := s.repository.forge.api(ctx).GetTeamMember(found[0], person.Login)
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
		return fault.New(fault.Unauthorized, "%w: take %s into the team, or make it an owner of the organization", err, s.repository.info.Self.Login)
	}
	return err
}
