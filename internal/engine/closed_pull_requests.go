package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// deletionDelay is how long after a close the forge may report the branch deletion that
// caused it: forges report whole seconds.
const deletionDelay = time.Second

// observeUserDecisions reads the last closed pull requests of each branch from which one
// would be opened now, and of each that would be deleted. A close by a user is a
// decision. It may make room for another branch, which is then read too. The plan
// returned is the last one, without the rules of the forge.
func observeUserDecisions(ctx context.Context, h landing.Reader, o Observation, reads int) (Observation, Plan, error) {
	if o.Promotion.PushOnly {
		return o, Plan{}, nil
	}
	for asked := map[string]bool{}; ; {
		plan := makePlan(o)
		// Once a branch is gone, a close looks like a deleted branch.
		heads := unusedBranches(o, plan, h.Objects, h.By)
		for _, p := range plan.Proposals {
			if p.Step == propose.StepPush || p.Step == propose.StepPropose && p.Open == nil {
				heads = append(heads, o.headsOf(p)...)
			}
		}
		heads = slices.DeleteFunc(heads, func(head string) bool { return asked[head] })
		if len(heads) == 0 {
			return o, plan, nil
		}
		closed := sideBySide(reads, heads, func(head string) ([]scm.PullRequest, error) {
			return h.Repository.PullRequests().Closed(ctx, head, landing.MaxClosed)
		})
		for _, head := range heads {
			asked[head] = true
			listed, err := closed(head)
			if err == nil {
				o, err = readClosed(ctx, h, o, head, listed)
			} else {
				err = fmt.Errorf("list the closed pull requests of %s: %w", head, err)
			}
			if err := o.failures.SkipBranch(ctx, head, err); err != nil {
				return o, plan, err
			}
		}
	}
}

// readClosed reads the last closed pull requests of a branch: the decisions of users up
// to the one that was merged, and what was merged and reverted.
func readClosed(ctx context.Context, h landing.Reader, o Observation, head string, closed []scm.PullRequest) (Observation, error) {
	branch, _ := promotion.ParseHead(head)
	afterMerge := true
	for _, pr := range closed {
		if pr.Unread != nil {
			o.failures.Add(fmt.Sprintf("who closed #%d", pr.Number), pr.Unread)
		}
		landed := promotion.ReadTrailers(h.Objects.Trailers(pr.Head.Message))
		landed = slices.DeleteFunc(landed, func(l promotion.Landed) bool { return !landing.Covers(branch, l.Target) })
		if pr.State == scm.StateMerged {
			afterMerge = false
		}
		switch {
		case pr.State == scm.StateMerged && pr.Head.Own:
			// A merge may leave no trailers in Git.
			for _, l := range landed {
				reverted, err := h.RevertedMerge(ctx, o.observed(), l, pr.Merged.Commit, pr.Merged.At)
				if err != nil {
					return o, err
				}
				o.Promotion.Reverted = maps.Clone(o.Promotion.Reverted)
				o.Promotion.Reverted[l.Target] = slices.Concat(o.Promotion.Reverted[l.Target], reverted)
			}
		case afterMerge && pr.Head.Own:
			changes, err := decisionOf(ctx, h.Repository, o, pr, branch, landed)
			if err != nil {
				return o, err
			}
			o = o.withChanges(changes...)
		}
	}
	return o, nil
}

// decisionOf returns what a closed pull request means for the state.
func decisionOf(ctx context.Context, repository scm.Repository, o Observation, pr scm.PullRequest, branch promotion.Target, landed []promotion.Landed) ([]state.Change, error) {
	record := o.Promotion.State.At(state.Target(branch))
	if closedByUs(repository, record, pr) || isRecorded(o, pr, branch, landed) {
		return nil, nil
	}
	act := state.Act{By: pr.Closer, At: pr.ClosedAt}
	deleted, err := closedByDeletion(ctx, repository, o, pr)
	switch {
	case err != nil:
		return nil, err
	case deleted && record.Reopened == nil:
		// Branches are deleted for many reasons: it is opened again once.
		return []state.Change{state.ReopenedOnce(state.Target(branch), pr.Number, o.Now)}, nil
	case deleted && (record.Reopened.Number == pr.Number || record.Hold != nil):
		return nil, nil
	case deleted:
		act.Reason = fmt.Sprintf("the branch of pull request #%d was deleted, as that of #%d was before", pr.Number, record.Reopened.Number)
		return []state.Change{state.Hold(state.Target(branch), act)}, nil
	}
	act.Reason = fmt.Sprintf("pull request #%d was closed", pr.Number)
	var changes []state.Change
	for _, l := range landed {
		if resumedAfter(o, pr, l.Target) {
			continue
		}
		if images := landing.ChangedBy(o.Promotion, l); len(images) > 0 {
			changes = append(changes, state.Reject(state.Target(l.Target), state.Rejection{Act: act, Images: images, Number: pr.Number}))
		}
		if images := landing.RewrittenBy(o.Promotion, l); len(images) > 0 {
			form := act
			form.Reason = fmt.Sprintf("pull request #%d was closed, which writes the same versions in another form", pr.Number)
			changes = append(changes, state.Reject(state.Target(l.Target), state.Rejection{Act: form, Images: images, Number: pr.Number, Form: true}))
		}
	}
	return changes, nil
}

// closedByUs reports whether we closed the pull request. Where the forge names who did,
// it must agree with our record, which may be older than a user's later close.
func closedByUs(repository scm.Repository, record state.Record, pr scm.PullRequest) bool {
	recorded := slices.ContainsFunc(record.Closings, func(c state.Closing) bool { return c.Number == pr.Number })
	if !repository.Features().Closers || pr.Closer.Login == "" {
		return recorded
	}
	return recorded && pr.Closer.Same(repository.Info().Self)
}

// isRecorded reports whether the decision is in the state already, or was resumed since.
// The branch may contain something else by now.
func isRecorded(o Observation, pr scm.PullRequest, branch promotion.Target, landed []promotion.Landed) bool {
	return resumedAfter(o, pr, branch) || slices.ContainsFunc(landed, func(l promotion.Landed) bool {
		rejections := o.Promotion.State.At(state.Target(l.Target)).Rejections
		return slices.ContainsFunc(rejections, func(r state.Rejection) bool { return r.Number == pr.Number })
	})
}

// resumedAfter reports whether the target, or a wider one, was resumed after the pull
// request was closed.
func resumedAfter(o Observation, pr scm.PullRequest, target promotion.Target) bool {
	return pr.ClosedAt.Before(o.Promotion.State.ResumedAt(state.Target(target)))
}

// closedByDeletion reports whether the deletion of its branch closed the pull request. A
// user may also have closed it first and deleted the branch afterwards.
func closedByDeletion(ctx context.Context, repository scm.Repository, o Observation, pr scm.PullRequest) (bool, error) {
	if _, exists := o.Refs.Branches[pr.Head.Branch]; exists {
		return false, nil
	}
	deletions, can := repository.(scm.Deletions)
	if !can {
		return true, nil
	}
	deleted, err := deletions.HeadDeleted(ctx, pr.Number)
	if fault.KindOf(err) == fault.Invalid { // as if the forge did not report it
		o.failures.Add(fmt.Sprintf("when the branch of #%d was deleted", pr.Number), err)
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask when the branch of #%d was deleted: %w", pr.Number, err)
	}
	return !deleted.After(pr.ClosedAt.Add(deletionDelay)), nil
}

// unusedBranches returns our branches that no pull request is open from, for which
// nothing differs, and that no user committed to.
func unusedBranches(o Observation, plan Plan, objects repo.Commits, by repo.Signature) []string {
	var unused []string
	for _, branch := range slices.Sorted(maps.Keys(o.Refs.Branches)) {
		target, ours := promotion.ParseHead(branch)
		if _, open := o.Promotion.Open[branch]; !ours || open {
			continue
		}
		used := slices.ContainsFunc(plan.Proposals, func(p propose.Proposal) bool { return p.Head == branch })
		if used || !plan.isSettled(target) {
			continue
		}
		if head, err := objects.Commit(o.Refs.Branches[branch]); err == nil && by.Committed(head) {
			unused = append(unused, branch)
		}
	}
	return unused
}

// isSettled reports whether nothing differs in the target, or in a whole environment.
func (p Plan) isSettled(target promotion.Target) bool {
	known := false
	for _, d := range p.Decisions {
		if d.Environment != target.Environment || target.Application != state.All && d.Application != target.Application {
			continue
		}
		if known = true; d.State != promotion.Same && d.State != promotion.Absent {
			return false
		}
	}
	return known
}
