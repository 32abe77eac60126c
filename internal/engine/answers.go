package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// closedLimit is how many closed pull requests of one branch are looked at.
const closedLimit = 5

// lookAtAnswers asks, for each branch of which a pull request would be opened now,
// what became of the last ones, and for each that would be tidied away. A person's
// close is an answer. It may make room for another branch, of which the same is
// asked.
func (v *view) lookAtAnswers(ctx context.Context) error {
	if v.observed.PushOnly {
		return nil
	}
	for asked := map[string]bool{}; ; {
		heads := slices.DeleteFunc(v.unanswered(), func(head string) bool { return asked[head] })
		if len(heads) == 0 {
			return nil
		}
		for _, head := range heads {
			asked[head] = true
			if err := v.aside(ctx, head, v.answersOf(ctx, head)); err != nil {
				return err
			}
		}
	}
}

// unanswered returns the branches of which a pull request would be opened now, or
// that served: once they are gone, a close looks like a deleted branch.
func (v *view) unanswered() []string {
	proposals := v.decide()
	heads := v.served(proposals)
	for _, proposal := range proposals {
		if proposal.Step == pullrequest.StepPush || proposal.Step == pullrequest.StepPropose && proposal.Open == nil {
			heads = append(heads, v.headsOf(proposal)...)
		}
	}
	return heads
}

// headsOf returns the branch of a proposal, and those that are left from before it
// was pushed, or shared a pull request, as the config says now.
func (v *view) headsOf(p pullrequest.Proposal) []string {
	left := []string{promotion.GroupBranch(p.Environment.Name)}
	for _, d := range p.Decisions {
		left = append(left, promotion.HeadBranch(d.Environment, d.Application))
	}
	left = slices.DeleteFunc(left, func(head string) bool {
		_, open := v.observed.Open[head]
		return open || v.refs.Branches[head] == "" || head == p.Head
	})
	if p.Head == "" {
		return left
	}
	return append(left, p.Head)
}

// unreadOf returns why nothing can be done about a proposal.
func (v *view) unreadOf(p pullrequest.Proposal) error {
	for _, head := range v.headsOf(p) {
		if err := v.unread[head]; err != nil {
			return err
		}
	}
	return nil
}

// answersOf takes what people answered to the last pull requests of a branch, up to
// the one that they merged; and what was merged and is no more.
func (v *view) answersOf(ctx context.Context, head string) error {
	closed, err := v.Repository.PullRequests().Closed(ctx, head, closedLimit)
	if err != nil {
		return fmt.Errorf("list the closed pull requests of %s: %w", head, err)
	}
	merged := slices.IndexFunc(closed, func(pr scm.PullRequest) bool { return pr.State == scm.StateMerged })
	for i, pr := range closed {
		switch {
		case pr.State == scm.StateMerged && pr.Head.Own:
			if err := v.takenBack(ctx, pr); err != nil {
				return err
			}
		case merged < 0 || i < merged:
			if err := v.answer(ctx, pr); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer takes one closed pull request as what it means.
func (v *view) answer(ctx context.Context, pr scm.PullRequest) error {
	target, _ := promotion.ParseHead(pr.Head.Branch)
	record := v.observed.State.At(state.Target(target))
	landed := promotion.ReadTrailers(v.Objects.Trailers(pr.Head.Message))
	if !pr.Head.Own || v.closedByUs(record, pr) || v.taken(pr, target, landed) {
		return nil
	}
	act := state.Act{By: closer(pr), At: pr.ClosedAt}
	if gone, err := v.closedByDeletion(ctx, pr); err != nil {
		return err
	} else if gone {
		v.branchDeleted(state.Target(target), record, pr, act)
		return nil
	}
	act.Why = fmt.Sprintf("pull request #%d was closed", pr.Number)
	for _, l := range landed {
		if !speaksFor(target, l.Target) {
			continue
		}
		if images := v.wouldChange(l); len(images) > 0 && !v.resumedSince(pr, l.Target) {
			v.remember(state.Reject(state.Target(l.Target), state.Rejection{Act: act, Images: images, Number: pr.Number}))
		}
	}
	return nil
}

// afterClose is how long after a close a deletion may be told that caused it: forges
// tell whole seconds.
const afterClose = time.Second

// closedByDeletion says whether the branch of a closed pull request is gone, and
// that is what closed it. Somebody may have closed it first and tidied up then.
func (v *view) closedByDeletion(ctx context.Context, pr scm.PullRequest) (bool, error) {
	if _, still := v.refs.Branches[pr.Head.Branch]; still {
		return false, nil
	}
	told, can := v.Repository.(scm.Deletions)
	if !can {
		return true, nil
	}
	deleted, err := told.HeadDeleted(ctx, pr.Number)
	if err != nil {
		return false, fmt.Errorf("ask when the branch of #%d was deleted: %w", pr.Number, err)
	}
	return !deleted.After(pr.ClosedAt.Add(afterClose)), nil
}

// speaksFor says whether a commit on the branch of a place may say something of
// another one. Trailers are words, and anybody who may push can write some.
func speaksFor(branch, target promotion.Target) bool {
	return branch.Environment == target.Environment && (branch.Application == state.All || branch.Application == target.Application)
}

// taken says whether the answer of a pull request is in the state already, or the
// place was resumed since. What is left of its branch may tell something else by
// now.
func (v *view) taken(pr scm.PullRequest, target promotion.Target, landed []promotion.Landed) bool {
	return v.resumedSince(pr, target) || slices.ContainsFunc(landed, func(l promotion.Landed) bool {
		rejections := v.observed.State.At(state.Target(l.Target)).Rejections
		return slices.ContainsFunc(rejections, func(r state.Rejection) bool { return r.Number == pr.Number })
	})
}

// resumedSince says whether a place, or one that holds it, was resumed after a
// pull request was closed.
func (v *view) resumedSince(pr scm.PullRequest, target promotion.Target) bool {
	return pr.ClosedAt.Before(v.observed.State.ResumedAt(state.Target(target)))
}

// closedByUs says whether the close is our own. Where the forge names who closed
// it, both must agree: our record may be older than a person's later answer.
func (v *view) closedByUs(record state.Record, pr scm.PullRequest) bool {
	recorded := slices.ContainsFunc(record.Closings, func(c state.Closing) bool { return c.Number == pr.Number })
	if !v.Repository.Features().Closers || pr.Closer.Login == "" {
		return recorded
	}
	return recorded && pr.Closer.Same(v.Repository.Info().Self)
}

func closer(pr scm.PullRequest) identity.User {
	if pr.Closer.Login == "" {
		return identity.User{Login: "somebody"}
	}
	return pr.Closer
}

// branchDeleted opens again once: a branch goes for many reasons. The second time
// it is an answer.
func (v *view) branchDeleted(target state.Target, record state.Record, pr scm.PullRequest, act state.Act) {
	switch {
	case record.Reopened == nil:
		v.remember(state.ReopenedOnce(target, pr.Number, v.now))
	case record.Reopened.Number != pr.Number && record.Hold == nil:
		act.Why = fmt.Sprintf("the branch of pull request #%d was deleted, as that of #%d was before", pr.Number, record.Reopened.Number)
		v.remember(state.Hold(target, act))
	}
}

// wouldChange returns the versions of a snapshot that differ from what the files
// say: the others were not what the person refused.
func (v *view) wouldChange(landed promotion.Landed) map[string]string {
	images := map[string]string{}
	for component, pinned := range landed.Snapshot {
		if !holds(v.observed.Targets[landed.Target], component, pinned) {
			images[component] = pinned.String()
		}
	}
	return images
}

// holds says whether the files of a place say the version of a component.
func holds(present promotion.Current, component string, pinned promotion.Pinned) bool {
	for _, r := range present.References {
		if r.Component != component {
			continue
		}
		here := pinned.Version
		here.Tag, here.Digest = r.Tag, r.Digest
		if !promotion.SameRollout(here, pinned.Version) {
			return false
		}
	}
	return true
}

func teamsOf(approvals *config.Approvals) []string {
	if approvals == nil {
		return nil
	}
	var teams []string
	for _, from := range approvals.From {
		if team, ok := strings.CutPrefix(from, "team:"); ok {
			teams = append(teams, team)
		}
	}
	return teams
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
