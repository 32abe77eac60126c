package comments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

const (
	// maxSearchedBranches is how many branches are searched for a pull request that is
	// not open.
	maxSearchedBranches = 200
)

// pullRequestTargets is what a pull request of ours contains, open or not.
type pullRequestTargets struct {
	number  int
	branch  promotion.Target   // of its branch name
	targets []promotion.Target // that the config has, one for each application
	landed  []promotion.Landed
	merged  string    // the merge commit; empty: it was not merged
	written time.Time // when its open head was written; zero: it is not open, or not promoter's
}

// find finds a pull request by number. It lists the closed ones of a branch once, and
// adds them to the observed ones. It returns false for a pull request that is not ours:
// from a fork, from another branch, or opened by another account.
func (r Reader) find(ctx context.Context, o Observed, number int) (pullRequestTargets, bool, error) {
	numbered := func(pr scm.PullRequest) bool { return pr.Number == number }
	if i := slices.IndexFunc(o.Open, numbered); i >= 0 {
		pr := o.Open[i]
		var trailers []promotion.Trailer
		var wrote time.Time
		if _, ours := promotion.ParseHead(pr.Head.Branch); ours && pr.Head.Own {
			head, err := r.Commits.Commit(pr.Head.Commit)
			if err != nil {
				return pullRequestTargets{}, false, fmt.Errorf("read the head of #%d: %w", number, err)
			}
			written, ours, err := r.History.WrittenIn(ctx, pr.Head.Branch, head, pr.Base, o.Landed.Heads[pr.Base])
			if err != nil {
				return pullRequestTargets{}, false, fmt.Errorf("read the head of #%d: %w", number, err)
			}
			if ours {
				trailers, wrote = written.Trailers, written.Committer.When
			}
		}
		about, ours := targetsOfPullRequest(o, pr, trailers)
		about.written = wrote
		return about, ours, nil
	}
	for _, head := range headsWithClosed(o, number) {
		closed, asked := o.Closed[head]
		if !asked {
			var err error
			if closed, err = r.Repository.PullRequests().Closed(ctx, head, landing.MaxClosed); err != nil {
				return pullRequestTargets{}, false, fmt.Errorf("list the closed pull requests of %s: %w", head, err)
			}
			o.Closed[head] = closed
		}
		if i := slices.IndexFunc(closed, numbered); i >= 0 {
			about, ours := targetsOfPullRequest(o, closed[i], r.Commits.Trailers(closed[i].Head.Message))
			return about, ours, nil
		}
	}
	return pullRequestTargets{}, false, nil
}

// targetsOfPullRequest reads the targets of a pull request from its branch and the
// trailers of its head, which may not name targets of other branches.
func targetsOfPullRequest(o Observed, pr scm.PullRequest, trailers []promotion.Trailer) (pullRequestTargets, bool) {
	target, named := promotion.ParseHead(pr.Head.Branch)
	if !named || !pr.Head.Own || !pr.Author.Same(o.Self) {
		return pullRequestTargets{}, false
	}
	about := pullRequestTargets{number: pr.Number, branch: target, merged: pr.Merged.Commit}
	for _, landed := range promotion.ReadTrailers(trailers) {
		if landing.Covers(target, landed.Target) {
			about.landed = append(about.landed, landed)
		}
	}
	if _, known := o.Promotion.Config.Environment(target.Environment); !known {
		return about, true
	}
	if target.Application != state.All {
		about.targets = []promotion.Target{target}
		return about, true
	}
	for _, landed := range about.landed {
		about.targets = append(about.targets, landed.Target)
	}
	return about, true
}

// headsWithClosed returns the branches that a pull request may have come from: first
// those for which the state names its number, then those of every target.
func headsWithClosed(o Observed, number int) []string {
	var recorded, heads []string
	for _, target := range o.Promotion.State.Targets() {
		record := o.Promotion.State.At(target)
		closed := func(c state.Closing) bool { return c.Number == number }
		rejected := func(r state.Rejection) bool { return r.Number == number }
		if slices.ContainsFunc(record.Closings, closed) || slices.ContainsFunc(record.Rejections, rejected) {
			recorded = append(recorded, promotion.HeadBranch(target.Environment, target.Application))
		}
	}
	for target := range o.Promotion.Targets {
		heads = append(heads, promotion.HeadBranch(target.Environment, target.Application), promotion.GroupBranch(target.Environment))
	}
	slices.Sort(heads)
	heads = slices.Concat(recorded, slices.Compact(heads))
	return heads[:min(len(heads), maxSearchedBranches)]
}
