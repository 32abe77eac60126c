// Package plan decides what one reconciliation does: which versions each target should have, and what
// becomes of each branch and pull request. It reads values and returns values, without I/O.
package plan

import (
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/input"
	"promoter/internal/promotion/propose"
	"promoter/internal/promotion/record"
	"promoter/internal/reconcile/cache"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Plan is what a reconciliation decided.
type Plan struct {
	Decisions []promotion.Decision // by target
	Proposals []propose.Proposal   // by branch or pull request, in the order to act
	// Reads is what the decisions that were made read, by application.
	Reads map[string]input.Reads

	made []promotion.Decision // of the decisions, those that are not from a cache
}

// Make decides. The entry has the decisions about applications that are not among those of the observation;
// nil: it is about all of them. The error is that of decide.Plan: there is no plan then, never a part of one.
func Make(ctx context.Context, o promotion.Observation, entry *cache.Entry, now time.Time) (Plan, error) {
	made, reads, err := decide.PlanReads(ctx, o, now)
	if err != nil {
		return Plan{}, err
	}
	decisions := made
	if entry != nil {
		decisions = entry.Decisions(made, o)
	}
	return Plan{Decisions: decisions, Proposals: propose.Plan(o, decisions, now), Reads: reads, made: made}, nil
}

// StateChanges returns what is recorded before a plan is carried out: what the planner wants to remember, and
// the pull requests that we are about to close. Those for which skipped returns an error are not closed now: a
// later close is a user's.
func (p Plan) StateChanges(o promotion.Observation, now time.Time, skipped func(propose.Proposal) error) []state.Change {
	changes := record.Changes(o, p.made, now)
	for _, proposal := range p.Proposals {
		if proposal.Step != propose.StepClose || proposal.Open == nil || skipped(proposal) != nil {
			continue
		}
		if target, ours := promotion.ParseHead(proposal.Head); ours {
			changes = append(changes, state.Closed(state.Target(target), proposal.Open.Number, proposal.Reason.Message, now))
		}
	}
	return changes
}

// UnusedBranches returns our branches that no pull request is open from, for which
// nothing differs, and that no user committed to.
func (p Plan) UnusedBranches(branches map[string]string, open map[string]promotion.Open, objects repo.Commits, by repo.Signature) []string {
	var unused []string
	for _, branch := range slices.Sorted(maps.Keys(branches)) {
		target, ours := promotion.ParseHead(branch)
		if _, isOpen := open[branch]; !ours || isOpen {
			continue
		}
		used := slices.ContainsFunc(p.Proposals, func(p propose.Proposal) bool { return p.Head == branch })
		if used || !p.isSettled(target) {
			continue
		}
		if head, err := objects.Commit(branches[branch]); err == nil && by.Committed(head) {
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
		known = true
		if d.State != promotion.Same && d.State != promotion.Absent {
			return false
		}
	}
	return known
}

// Written returns the applications that a plan writes: that it pushes, proposes, merges, or closes. What it only keeps, or
// whose branch it deletes, has a branch of ours, and an application with one is always decided about, see cache.Entry.Touched.
func (p Plan) Written() map[string]bool {
	written := map[string]bool{}
	for _, proposal := range p.Proposals {
		if proposal.Step != propose.StepPush && proposal.Step != propose.StepPropose && proposal.Step != propose.StepClose {
			continue
		}
		for _, d := range proposal.Decisions {
			written[d.Application] = true
		}
	}
	return written
}

// Mismatch compares the decisions about the applications of a fresh observation with those that are made
// from it, and describes how they differ; empty: they do not.
func (p Plan) Mismatch(ctx context.Context, fresh promotion.Observation, now time.Time) (string, error) {
	var planned []promotion.Decision
	for i := range p.Decisions {
		if fresh.Applications[p.Decisions[i].Application] {
			planned = append(planned, p.Decisions[i])
		}
	}
	again, err := decide.Plan(ctx, fresh, now)
	if err != nil {
		return "", err
	}
	return Differences(planned, again), nil
}
