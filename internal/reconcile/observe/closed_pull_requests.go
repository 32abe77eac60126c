package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// deletionDelay is how long after a close the forge may report the branch deletion that
// caused it: forges report whole seconds.
const deletionDelay = time.Second

// readUserDecisions reads the last closed pull requests of each branch from which one
// would be opened now, and of each that would be deleted. A close by a user is a
// decision. It may make room for another branch, which is then read too. Last it reads what the
// forge requires of the branches of the plan.
func (r Reader) readUserDecisions(
	ctx context.Context, o Observation, history landing.Reader, failures *repo.Collector,
) (Observation, error) {
	var made plan.Plan
	for read := map[string]bool{}; !o.Promotion.PushOnly; {
		var err error
		if made, err = o.Plan(ctx); err != nil {
			return o, err
		}
		heads := slices.DeleteFunc(headsToClose(o, made, r.Clients), func(head string) bool { return read[head] })
		if len(heads) == 0 {
			break
		}
		closed := sideBySide(r.Parallel, heads, func(head string) ([]scm.PullRequest, error) {
			return r.Clients.Forge.PullRequests().Closed(ctx, head, landing.MaxClosed)
		})
		for _, head := range heads {
			read[head] = true
			listed, err := closed(head)
			if err == nil {
				o, err = readClosed(ctx, history, o, head, listed, failures)
			} else {
				err = fmt.Errorf("list the closed pull requests of %s: %w", head, err)
			}
			if err := failures.SkipBranch(ctx, head, err); err != nil {
				return o, err
			}
		}
	}
	var err error
	o.Promotion.Protected, err = readRules(ctx, r.Clients.Forge, o, made, failures)
	if err != nil {
		return o, err
	}
	return o, readHeads(ctx, r.Clients.Forge, o, made, r.Parallel, failures)
}

// headsToClose returns the branches whose closed pull requests decide about a plan: those that it opens one from, and those
// that it deletes, because a close of them looks like a deleted branch then.
func headsToClose(o Observation, made plan.Plan, c Clients) []string {
	heads := made.UnusedBranches(o.Refs.Branches, o.Promotion.Open, c.Objects, c.By)
	for _, p := range made.Proposals {
		if p.Step == propose.StepPush || p.Open == nil && (p.Step == propose.StepPropose || waitsToRollBack(o, p)) {
			heads = append(heads, o.HeadsOf(p)...)
		}
	}
	return heads
}

// waitsToRollBack reports whether a rollback of a proposal waits, such as for the end of a freeze. A user
// may have canceled it by closing its pull request, and until that is read, it keeps versions out downstream.
func waitsToRollBack(o Observation, p propose.Proposal) bool {
	return p.Step == propose.StepWait && slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool {
		return d.Returned == nil && o.Promotion.State.At(state.Target(d.Target)).Rollback != nil
	})
}

// readClosed reads the last closed pull requests of a branch: the decisions of users up
// to the one that was merged, and what was merged and reverted.
func readClosed(
	ctx context.Context, h landing.Reader, o Observation, head string, closed []scm.PullRequest, failures *repo.Collector,
) (Observation, error) {
	branch, _ := promotion.ParseHead(head)
	afterMerge := true
	for _, pr := range closed {
		if pr.Unread != nil {
			failures.Add(fmt.Sprintf("who closed #%d", pr.Number), pr.Unread)
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
				reverted, err := h.RevertedMerge(ctx, o.Landed(), l, pr.Merged.Commit, pr.Merged.At)
				if err != nil {
					return o, err
				}
				o = o.withReverted(l.Target, reverted)
			}
		case afterMerge && pr.Head.Own:
			changes, err := decisionOf(ctx, h.Repository, o, pr, branch, landed, failures)
			if err != nil {
				return o, err
			}
			o = o.WithChanges(changes...)
		}
	}
	return o, nil
}

// withReverted returns the observation with what a user reverted of a merge that left no trailers.
func (o Observation) withReverted(target promotion.Target, reverted []promotion.Reversion) Observation {
	if len(reverted) == 0 {
		return o
	}
	add := func(all map[promotion.Target][]promotion.Reversion) map[promotion.Target][]promotion.Reversion {
		more := map[promotion.Target][]promotion.Reversion{}
		maps.Copy(more, all)
		more[target] = slices.Concat(all[target], reverted)
		return more
	}
	o.Promotion.Reverted, o.reverted = add(o.Promotion.Reverted), add(o.reverted)
	return o
}

// decisionOf returns what a closed pull request means for the state.
func decisionOf(
	ctx context.Context, repository scm.Repository, o Observation, pr scm.PullRequest,
	branch promotion.Target, landed []promotion.Landed, failures *repo.Collector,
) ([]state.Change, error) {
	record := o.Promotion.State.At(state.Target(branch))
	if closedByUs(repository, record, pr) || isRecorded(o, pr, branch, landed) && !pr.Closer.Bot {
		return nil, nil
	}
	var err error
	if pr.Closer, err = closerOf(ctx, repository, pr); err != nil {
		return nil, err
	}
	act := state.Act{By: pr.Closer, At: pr.ClosedAt}
	byBot := pr.Closer.Bot
	if byBot {
		var changes []state.Change
		if act, changes, err = closedByBot(ctx, repository, o, pr, landed, failures); err != nil || act.At.IsZero() ||
			isRecorded(o, pr, branch, landed) {
			return changes, err
		}
		pr.Closer, pr.ClosedAt = act.By, act.At // of the user who closed it before
	}
	canceled := canceledBy(o, pr, landed)
	deleted := false
	if !byBot {
		deleted, err = closedByDeletion(ctx, repository, o, pr, failures)
	}
	switch {
	case err != nil:
		return nil, err
	case deleted && resumedAfter(o, pr, branch): // it ended the hold
		return nil, nil
	case deleted && record.Reopened == nil:
		// Branches are deleted for many reasons: it is opened again once.
		return []state.Change{state.ReopenedOnce(state.Target(branch), pr.Number, o.Now)}, nil
	case deleted && record.Reopened.Number == pr.Number || deleted && record.Hold != nil && len(canceled) == 0:
		return nil, nil
	case deleted && len(canceled) == 0:
		act.Reason = fmt.Sprintf("the branch of pull request #%d was deleted, as that of #%d was before", pr.Number, record.Reopened.Number)
		return []state.Change{state.Hold(state.Target(branch), act)}, nil
	}
	changes := cancel(canceled, branch, pr, landed, act)
	kept := slices.DeleteFunc(slices.Clone(landed), func(l promotion.Landed) bool {
		_, ends := canceled[l.Target]
		return ends || deleted
	})
	return append(changes, rejectedBy(o, pr, kept, act)...), nil
}

// cancel returns what ends the rollbacks of a pull request that a user closed.
func cancel(
	canceled map[promotion.Target]state.RolledBack, branch promotion.Target, pr scm.PullRequest, landed []promotion.Landed, act state.Act,
) []state.Change {
	if len(canceled) == 0 {
		return nil
	}
	why := "closed by " + promotion.Actor(act) + ": the rollback is canceled"
	changes := []state.Change{state.ClosedByUser(state.Target(branch), pr.Number, why, pr.ClosedAt)}
	for _, l := range landed {
		if back, ends := canceled[l.Target]; ends {
			changes = append(changes, state.CancelRollback(state.Target(l.Target), back))
		}
	}
	return changes
}

// rejectedBy returns the rejections that follow from a close by a user.
func rejectedBy(o Observation, pr scm.PullRequest, landed []promotion.Landed, act state.Act) []state.Change {
	var changes []state.Change
	for _, l := range landed {
		if ofEndedRollback(o, pr, l) {
			continue
		}
		for _, one := range broughtBy(o, l) {
			changes = append(changes, state.Reject(state.Target(l.Target), one.rejected(pr, act)))
		}
	}
	return changes
}

// ofEndedRollback reports whether a resume ended the rollback that a pull request was for, after it was closed: the
// close canceled the rollback, and rejects nothing.
func ofEndedRollback(o Observation, pr scm.PullRequest, l promotion.Landed) bool {
	resumed := o.Promotion.State.At(state.Target(l.Target)).Resumed
	return resumed != nil && pr.ClosedAt.Before(resumed.At) && returnsTo(state.RolledBack{Images: resumed.Rollback}, l.Snapshot)
}

// canceledBy returns the rollbacks that end if a user closed a pull request: it has exactly their versions, and was
// closed after they were recorded. Forges report whole seconds.
func canceledBy(o Observation, pr scm.PullRequest, landed []promotion.Landed) map[promotion.Target]state.RolledBack {
	canceled := map[promotion.Target]state.RolledBack{}
	for _, l := range landed {
		back := o.Promotion.State.At(state.Target(l.Target)).Rollback
		if back == nil || pr.ClosedAt.Before(back.At.Truncate(time.Second)) || !returnsTo(*back, l.Snapshot) {
			continue
		}
		canceled[l.Target] = *back
	}
	return canceled
}

// returnsTo reports whether a snapshot has the versions of a rollback, of the components that it has.
func returnsTo(back state.RolledBack, snapshot promotion.Snapshot) bool {
	same := 0
	for component, pinned := range snapshot {
		text, named := back.Images[component]
		if !named {
			continue
		}
		to, err := image.Parse(text)
		if err != nil || to.Repository != pinned.Repository ||
			!promotion.SameRollout(to.Version(), pinned.Version) {
			return false
		}
		same++
	}
	return same > 0
}

// closedByUs reports whether we closed the pull request. Where the forge names who did,
// it must agree with our record, which may be older than a user's later close.
func closedByUs(repository scm.Repository, record state.Record, pr scm.PullRequest) bool {
	recorded := slices.ContainsFunc(record.Closings, func(c state.Closing) bool { return c.Number == pr.Number && !c.ByUser })
	if !repository.Features().Closers || pr.Closer.Login == "" {
		return recorded
	}
	return recorded && pr.Closer.Same(repository.Info().Self)
}

// isRecorded reports whether what follows from a close is in the state already, or whether users allowed its
// versions again since. The branch may contain something else by now.
func isRecorded(o Observation, pr scm.PullRequest, branch promotion.Target, landed []promotion.Landed) bool {
	canceled := slices.ContainsFunc(o.Promotion.State.At(state.Target(branch)).Closings, func(c state.Closing) bool {
		return c.ByUser && c.Number == pr.Number && !pr.ClosedAt.After(c.At)
	})
	return canceled || slices.ContainsFunc(landed, func(l promotion.Landed) bool {
		record := o.Promotion.State.At(state.Target(l.Target))
		rejects := func(r state.Rejection) bool { return r.Number == pr.Number }
		return record.IsSettled(pr.Number, pr.ClosedAt) || slices.ContainsFunc(record.Rejections, rejects)
	}) || allowedAfter(o, pr, landed)
}

// allowedAfter reports whether users allowed all versions again that a pull request would have
// changed when it was closed.
func allowedAfter(o Observation, pr scm.PullRequest, landed []promotion.Landed) (all bool) {
	for _, l := range landed {
		changed, rewritten := landing.ChangedBy(o.Promotion, l), landing.RewrittenBy(o.Promotion, l)
		for component, pinned := range l.Snapshot {
			at := o.Promotion.State.UnrejectedAt(state.Target(l.Target), pinned.Repository, pinned.Version)
			switch {
			case changed[component]+rewritten[component] == "":
			case !pr.ClosedAt.Before(at):
				return false
			default:
				all = true
			}
		}
	}
	return all
}

// resumedAfter reports whether the target, or a wider one, was resumed after the pull
// request was closed.
func resumedAfter(o Observation, pr scm.PullRequest, target promotion.Target) bool {
	return pr.ClosedAt.Before(o.Promotion.State.ResumedAt(state.Target(target)))
}

// closedByDeletion reports whether the deletion of its branch closed the pull request. A
// user may also have closed it first and deleted the branch afterwards.
func closedByDeletion(
	ctx context.Context, repository scm.Repository, o Observation, pr scm.PullRequest, failures *repo.Collector,
) (bool, error) {
	if _, exists := o.Refs.Branches[pr.Head.Branch]; exists {
		return false, nil
	}
	deletions, can := repository.(scm.Deletions)
	if !can {
		return true, nil
	}
	deleted, err := deletions.HeadDeleted(ctx, pr.Number)
	if fault.KindOf(err) == fault.Invalid { // as if the forge did not report it
		failures.Add(fmt.Sprintf("when the branch of #%d was deleted", pr.Number), err)
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask when the branch of #%d was deleted: %w", pr.Number, err)
	}
	// A close counts unless the forge shows that a deletion caused it: in doubt, it stops.
	return !deleted.IsZero() && !deleted.After(pr.ClosedAt.Add(deletionDelay)), nil
}
