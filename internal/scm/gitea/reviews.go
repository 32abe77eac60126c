package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
)

// Reviews lists all submitted reviews. Whether a reviewer may push is queried once
// per user, and only for reviews that could count.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if s.withoutPull {
		return nil, nil
	}
	noun := s.noun("reviews of pull request %d", number)
	found, err := pages(0, func(page sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return s.forge.api(ctx).ListPullReviews(s.owner, s.name, int64(number), sdk.ListPullReviewsOptions{ListOptions: page})
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
	review := scm.Review{Author: s.forge.person(given.Reviewer), Commit: given.CommitID, At: given.Submitted.UTC()}
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
	may, told, err := s.writer(ctx, review.Author)
	if err != nil || told {
		return may, err
	}
	return official, nil
}
