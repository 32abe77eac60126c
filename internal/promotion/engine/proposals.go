package engine

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// lookAtProposals reads the open pull requests of our branches. One from a fork is
// none of ours, whatever its branch is called.
func (v *view) lookAtProposals(ctx context.Context) error {
	v.observed.Open = map[string]promotion.Open{}
	for _, pr := range v.open {
		place, ours := promotion.ParseHead(pr.Head.Branch)
		if !ours || !pr.Head.Own {
			continue
		}
		open, err := v.openOf(ctx, pr, place)
		if err != nil {
			err = fmt.Errorf("look at pull request #%d: %w", pr.Number, err)
		}
		if err := v.aside(ctx, pr.Head.Branch, err); err != nil {
			return err
		}
		v.observed.Open[pr.Head.Branch] = open
	}
	return nil
}

func (v *view) openOf(ctx context.Context, pr scm.PullRequest, place promotion.Place) (promotion.Open, error) {
	open := promotion.Open{
		Number: pr.Number, URL: pr.URL, Head: pr.Head.Branch, Commit: pr.Head.Commit,
		Opened: pr.Opened, Draft: pr.Draft, Snapshots: map[string]promotion.Snapshot{},
	}
	if err := v.unread[pr.Head.Branch]; err != nil {
		return open, err
	}
	head, err := v.Objects.Commit(pr.Head.Commit)
	if fault.KindOf(err) == fault.NotFound {
		// The forge listed a head that was not in the listing of branches yet.
		return open, fault.Wrap(fault.Conflict, err)
	}
	if err != nil {
		return open, err
	}
	for _, landed := range promotion.ReadTrailers(head.Trailers) {
		if landed.Environment == place.Environment {
			open.Snapshots[landed.Application] = landed.Snapshot
		}
	}
	open.Foreign = v.foreign(pr, head, place)
	return open, v.signals(ctx, &open, pr, place)
}

// foreign says why a pull request of our branch is not ours to touch.
func (v *view) foreign(pr scm.PullRequest, head Commit, place promotion.Place) string {
	self := v.Repository.Info().Self
	base := v.baseOf(place)
	switch {
	case self.Login != "" && !pr.Author.Same(self):
		return pr.Author.Login + " opened it from our branch"
	case base != "" && pr.Base != base:
		return fmt.Sprintf("its base was changed to %s", pr.Base)
	case !v.isOurs(head):
		return fmt.Sprintf("%s committed to it", head.Committer.Name)
	default:
		return ""
	}
}

// baseOf returns the branch that the pull request of a place goes to; empty when
// the config knows the environment no more.
func (v *view) baseOf(place promotion.Place) string {
	environment, known := v.observed.Config.Environment(place.Environment)
	if !known {
		return ""
	}
	return v.branchOf(*environment)
}

// isOurs says whether a commit names us as its committer. That protects the work
// of people from accidents and proves nothing: what is merged is rewritten and
// compared.
func (v *view) isOurs(commit Commit) bool {
	return commit.Committer.Email == v.By.Email && commit.Committer.Name == v.By.Name
}

// signals asks what checks and people say of the head, where a gate or the way of
// refreshing wants to know.
func (v *view) signals(ctx context.Context, open *promotion.Open, pr scm.PullRequest, place promotion.Place) error {
	environment, known := v.observed.Config.Environment(place.Environment)
	if !known || open.Foreign != "" {
		return nil
	}
	if v.Repository.Features().Statuses {
		checks, err := v.checksOf(ctx, pr.Head.Commit)
		// A token may be enough for all but the checks. That matters only where a
		// gate asks for one.
		if fault.KindOf(err) == fault.Unauthorised && len(environment.Gates.Checks) == 0 {
			err = nil
		}
		if err != nil {
			return err
		}
		open.Checks = checks
	}
	if !v.Repository.Features().Approvals {
		return nil
	}
	reviews, err := v.Repository.Signals().Reviews(ctx, pr.Number)
	if err != nil {
		return fmt.Errorf("read the reviews: %w", err)
	}
	return v.count(ctx, open, pr, reviews, v.askers(place), teamsOf(environment.Gates.Approvals))
}

// checksOf returns what others say of a commit; our own status counts nowhere. It
// is remembered also where a token may not read the rest, so that nothing is said
// twice.
func (v *view) checksOf(ctx context.Context, commit string) ([]promotion.Check, error) {
	all, err := v.Repository.Signals().Checks(ctx, commit)
	var checks []promotion.Check
	for _, check := range all {
		if check.Name == promotion.StatusContext {
			if check.Own {
				v.said(commit, check)
			}
			continue
		}
		checks = append(checks, promotion.Check{Name: check.Name, State: conditionState(check.State), At: check.At})
	}
	if err != nil {
		return nil, fmt.Errorf("read the checks of %.7s: %w", commit, err)
	}
	return checks, nil
}

func conditionState(state scm.CheckState) promotion.ConditionState {
	switch state {
	case scm.CheckPassed:
		return promotion.Passed
	case scm.CheckFailed:
		return promotion.Failed
	default:
		return promotion.Pending
	}
}

// askers are the people whose approval does not count because they asked.
func (v *view) askers(place promotion.Place) []string {
	request := v.observed.State.At(state.Place(place)).Request
	if request == nil {
		return nil
	}
	return []string{request.By.Login}
}

// count takes the last vote of each person for the present head. Bots, the author
// and whoever asked for the promotion have none.
func (v *view) count(ctx context.Context, open *promotion.Open, pr scm.PullRequest, reviews []scm.Review, askers, teams []string) error {
	votes := map[string]scm.Review{} // the last of each person
	for _, review := range reviews {
		voteless := review.Author.Bot || review.Author.Same(pr.Author) || slices.Contains(askers, review.Author.Login)
		if voteless || review.State == scm.Commented {
			continue
		}
		votes[review.Author.Login] = review
	}
	for _, login := range sortedKeys(votes) {
		review := votes[login]
		switch {
		case review.State == scm.ChangesRequested && review.MayWrite:
			open.Objections = append(open.Objections, login)
		case review.State == scm.Approved && review.MayWrite && review.Commit == pr.Head.Commit:
			approval := promotion.Approval{By: login, At: review.At}
			var err error
			if approval.Teams, err = v.memberships(ctx, review, teams); err != nil {
				return err
			}
			open.Approvals = append(open.Approvals, approval)
		}
	}
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
