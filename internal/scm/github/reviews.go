package github

import (
	"context"
	"net/http"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Reviews lists all submitted reviews. Whether a reviewer may push is queried once
// per user, and only for reviews that could count: not for bots, comments and
// dismissed reviews.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	noun := s.repo.noun("reviews of pull request %d", number)
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.PullRequestReview, *gogithub.Response, error) {
		return s.repo.forge.api.PullRequests.ListReviews(ctx, s.repo.owner, s.repo.name, number, &page)
	})
	if err != nil {
		return nil, explain(noun, err)
	}
	var reviews []scm.Review
	for _, given := range found {
		review, ok := s.translate(given)
		if !ok {
			continue
		}
		if review.State == scm.Approved || review.State == scm.ChangesRequested {
			if review.MayWrite, err = s.writer(ctx, review.Author); err != nil {
				return nil, explain(noun, err)
			}
		}
		reviews = append(reviews, review)
	}
	return reviews, nil
}

// translate omits our own pending reviews, which no other user sees, and unknown
// states.
func (s signals) translate(given *gogithub.PullRequestReview) (scm.Review, bool) {
	review := scm.Review{Author: s.repo.forge.person(given.GetUser()), Commit: given.GetCommitID(), At: given.GetSubmittedAt().UTC()}
	switch given.GetState() {
	case "APPROVED":
		review.State = scm.Approved
	case "CHANGES_REQUESTED":
		review.State = scm.ChangesRequested
	case "COMMENTED":
		review.State = scm.Commented
	case "DISMISSED":
		review.State = scm.Dismissed
	default:
		return scm.Review{}, false
	}
	return review, true
}

// writer reports whether a user may push, cached per reconciliation.
func (s signals) writer(ctx context.Context, person identity.User) (bool, error) {
	return s.repo.writers.Get(strings.ToLower(person.Login), func() (bool, error) { return s.permitted(ctx, person) })
}

// MayWrite queries GitHub on each call.
func (s signals) MayWrite(ctx context.Context, person identity.User) (bool, error) {
	may, err := s.permitted(ctx, person)
	return may, explain(s.repo.noun("permission of %s", rest.OneLine(person.Login)), err)
}

// permitted fetches a permission. GitHub reports none for bots, and a deleted account
// has none.
func (s signals) permitted(ctx context.Context, person identity.User) (bool, error) {
	if person.Bot || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return false, nil
	}
	level, _, err := s.repo.forge.api.Repositories.GetPermissionLevel(ctx, s.repo.owner, s.repo.name, person.Login)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// maintain and custom roles of an organization are reported as the next lower of
	// these.
	// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
	return level.GetPermission() == "admin" || level.GetPermission() == "write", nil
}

// Member queries a membership. GitHub hides teams from users who may not see them: a
// classic token without the scope is detected, for any other the team is empty.
func (s signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	group, slug, _ := strings.Cut(team, "/")
	if !rest.IsName(group) || !rest.IsName(slug) || !rest.IsName(person.Login) || !strings.EqualFold(person.Host, s.repo.forge.host) {
		return false, nil
	}
	membership, _, err := s.repo.forge.api.Teams.GetTeamMembershipBySlug(ctx, group, slug, person.Login)
	if statusOf(err) != http.StatusNotFound {
		return membership.GetState() == "active", explain("members of team "+team, err)
	}
	if missing := scopesLacking(refused(err).Response.Header); missing != "" {
		return false, fault.New(fault.Unauthorized, "members of team %s%s", team, missing)
	}
	return false, nil
}
