package engine

import (
	"context"
	"fmt"

	"promoter/internal/promotion"

	"promoter/internal/scm"
)

// count takes the last vote of each person. For the config only those for the
// present head count, and neither those of bots nor that of the author; for the
// forge, those that it did not dismiss.
func (v *view) count(ctx context.Context, open *promotion.Open, pr scm.PullRequest, reviews []scm.Review, teams []string) error {
	votes := map[string]scm.Review{} // the last of each person
	for _, review := range reviews {
		open.Changed = later(open.Changed, review.At)
		if review.State != scm.Commented {
			votes[review.Author.Login] = review
		}
	}
	for _, login := range sortedKeys(votes) {
		if err := v.vote(ctx, open, pr, votes[login], teams); err != nil {
			return err
		}
	}
	return nil
}

// vote takes the last vote of a person.
func (v *view) vote(ctx context.Context, open *promotion.Open, pr scm.PullRequest, review scm.Review, teams []string) error {
	login, own := review.Author.Login, review.Author.Same(pr.Author) || review.Author.Same(v.Repository.Info().Self)
	switch {
	case review.State == scm.ChangesRequested && review.MayWrite && !own && !review.Author.Bot:
		open.Objections = append(open.Objections, login)
		return nil
	case review.State != scm.Approved:
		return nil
	}
	current := review.Commit == pr.Head.Commit
	// A forge counts bots that may write, and need not tell whether one may. One that
	// does not count costs a refused merge; to wait for another might have no end.
	if (review.MayWrite || review.Author.Bot) && !own {
		open.Votes = append(open.Votes, promotion.Vote{By: login, Current: current})
	}
	void := promotion.Void{By: login, Own: own}
	switch {
	case own:
		void.Why = "it is promoter's own"
	case review.Author.Bot:
		void.Why = "it is a bot's"
	case !review.MayWrite:
		void.Why = "they may not write to the repository"
	case !current:
		void.Why = "it is older than the last push"
	default:
		in, err := v.memberships(ctx, review, teams)
		open.Approvals = append(open.Approvals, promotion.Approval{By: login, Teams: in, At: review.At})
		return err
	}
	open.Void = append(open.Void, void)
	return nil
}

// memberships returns the teams of the gate that the reviewer is in.
func (v *view) memberships(ctx context.Context, review scm.Review, teams []string) ([]string, error) {
	var in []string
	for _, team := range teams {
		member, err := v.Repository.Signals().Member(ctx, team, review.Author)
		if err != nil {
			return nil, fmt.Errorf("ask whether %s is in %s: %w", review.Author.Login, team, err)
		}
		if member {
			in = append(in, team)
		}
	}
	return in, nil
}
