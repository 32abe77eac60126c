package decide

import (
	"fmt"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/gate"
	"promoter/internal/promotion/input"
)

// supersede decides between what is wanted now and what the open pull request of
// the target has, as the newer setting says. It returns the moves to propose, what
// blocks them, and what is only shown. It is called before the conditions, which
// are then those of the returned moves. Requested versions and rollbacks are not
// subject to it.
func supersede(in input.Target, moves []promotion.Move) (wanted []promotion.Move, blocking, shown []promotion.Condition) {
	wanted = moves
	if in.HasPullRequest() && in.Settings.Land != setting.LandPush {
		open := in.For(parts[ofNewer])
		if wait, waits := joins(open, moves); waits {
			blocking = append(blocking, wait)
		} else {
			wanted, shown = againstOpen(open, moves)
		}
	}
	if len(in.Settings.After) == 0 {
		// What stays as it is open did not just come from the registry.
		stays := slices.DeleteFunc(slices.Clone(wanted), func(w promotion.Move) bool {
			available, moved := promotion.MoveOf(moves, w.Component)
			return moved && promotion.SameRollout(available.To, w.To)
		})
		blocking = append(blocking, condition.VerifyImages(in, stays, in.CurrentFact)...)
	}
	if in.Settings.Newer == setting.NewerDrain && !promotion.OnlyForm(wanted) {
		blocking = append(blocking, condition.Drain(in)...)
	}
	return wanted, blocking, append(shown, condition.StarvedSoaks(in)...)
}

// againstOpen chooses between what is wanted now and what is open. A request for
// exactly the new snapshot counts as a decision about the open one.
func againstOpen(in input.Target, moves []promotion.Move) ([]promotion.Move, []promotion.Condition) {
	open := *in.OpenPullRequest()
	current, valid := openMoves(in, open)
	if !valid || promotion.SameMoves(current, moves) || input.RequestsSnapshot(in) && input.IsRequested(in, moves) {
		return moves, nil
	}
	if in.Settings.Newer == setting.NewerQueue {
		return current, []promotion.Condition{newerWaits(open, moves, "")}
	}
	// An approval is work: it is not discarded for a newer version.
	if by := gate.ApprovedBy(in); len(by) > 0 {
		return current, []promotion.Condition{newerWaits(open, moves, ", which was approved by "+promotion.SortedNames(by))}
	}
	next := refreshed(in, moves, current)
	if promotion.SameMoves(next, current) {
		return next, nil
	}
	if wait, waits := checksRun(in, open, next, current); waits && !isBlocked(in, current) {
		wait.Reason = "newer version waits: " + promotion.TargetsText(moves...) + ", because " + wait.Reason
		return current, []promotion.Condition{wait}
	}
	return next, nil
}

// joins returns why the moves of an application wait that would join the pull request of other applications.
func joins(in input.Target, moves []promotion.Move) (promotion.Condition, bool) {
	open := *in.OpenPullRequest()
	_, within := open.Snapshots[in.Target.Application]
	if within || len(open.Snapshots) == 0 || open.Foreign != "" {
		return promotion.Condition{}, false
	}
	wait, waits := checksRun(in, open, moves, nil)
	wait.Name = "pull request"
	return wait, waits
}

// checksRun returns why the open pull request is not written again for other moves: its required checks run, and a new head
// would need new ones. Versions that come faster than checks pass would never land. Once the checks passed, it is only kept
// if it is merged now. What failed is no reason to wait, and neither is a head that is older than the setting.
//
// What a user requests instead of what is open, or for which a user bypasses something, does not wait.
func checksRun(in input.Target, open promotion.Open, moves, current []promotion.Move) (promotion.Condition, bool) {
	limit := in.Settings.PullRequest.WaitForChecks
	if !open.IsYoung(in.Now(), limit) || asksFor(in, moves, current) {
		return promotion.Condition{}, false
	}
	until := open.Pushed.Add(limit)
	wait := promotion.Condition{Name: promotion.NewerCondition, State: promotion.Pending, Until: &until}
	switch state, running := gate.RequiredChecks(in); state {
	case promotion.Pending:
		wait.Reason = fmt.Sprintf("the required check %s of #%d has not finished", running, open.Number)
		return wait, true
	case promotion.Passed:
		wait.Reason = fmt.Sprintf("the required checks of #%d passed, and it is merged first", open.Number)
		about := current
		if len(about) == 0 {
			about = moves
		}
		_, blocked := promotion.FirstBlocking(gate.Evaluate(in, about), false)
		return wait, in.Settings.Land == setting.LandAutomerge && !blocked
	default:
		return promotion.Condition{}, false
	}
}

// asksFor reports whether a user requested moves, and not what is open instead, or bypasses something for them.
func asksFor(in input.Target, moves, current []promotion.Move) bool {
	request := input.RequestFor(in, moves)
	return input.IsUrgent(request) || request != nil && len(current) > 0 && input.RequestFor(in, current) == nil
}

// isBlocked reports whether conditions keep moves from landing, as far as that is known.
func isBlocked(in input.Target, moves []promotion.Move) bool {
	required := slices.Concat(condition.Signatures(in, moves), condition.Mirrored(in, moves))
	if len(in.Settings.After) > 0 {
		required = append(required, conditionsOf(in, moves)...)
	} else {
		required = append(required, condition.VerifyImages(in, moves, in.CurrentFact)...)
	}
	_, blocked := promotion.FirstBlocking(required, true)
	return blocked
}

// waitsBehind returns the moves that wait until the open pull request is merged or closed, by what supersede shows.
func waitsBehind(moves []promotion.Move, shown []promotion.Condition) []promotion.Move {
	if slices.ContainsFunc(shown, func(c promotion.Condition) bool { return c.Name == promotion.NewerCondition }) {
		return moves
	}
	return nil
}

func newerWaits(open promotion.Open, moves []promotion.Move, why string) promotion.Condition {
	return promotion.Condition{
		Name: promotion.NewerCondition, State: promotion.Pending,
		Reason: fmt.Sprintf("newer version waits: %s, until #%d is merged or closed%s", promotion.TargetsText(moves...), open.Number, why),
	}
}

// refreshed returns what the pull request should have next. It never goes back: if
// a registry reports an older version or none, the component stays as it is open;
// if the parents have something older, the whole snapshot stays.
func refreshed(in input.Target, moves, open []promotion.Move) []promotion.Move {
	if len(in.Settings.After) > 0 {
		if slices.ContainsFunc(open, func(o promotion.Move) bool { return wouldLower(in, moves, o) }) {
			return open
		}
		return moves
	}
	var merged []promotion.Move
	for _, ref := range in.Refs {
		wanted, moved := promotion.MoveOf(moves, ref.Component)
		current, isOpen := promotion.MoveOf(open, ref.Component)
		switch {
		case isOpen && (!moved || wouldLower(in, moves, current)):
			merged = append(merged, current)
		case moved:
			merged = append(merged, wanted)
		}
	}
	return merged
}

// wouldLower reports whether the moves lead to an older version than the open one.
func wouldLower(in input.Target, moves []promotion.Move, open promotion.Move) bool {
	wanted, moved := promotion.MoveOf(moves, open.Component)
	return moved && input.IsNewer(open.To, wanted.To, in.Policies[open.Component])
}
