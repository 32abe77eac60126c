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
		wanted, shown = againstOpen(in.For(parts[ofNewer]), moves)
	}
	if len(in.Settings.After) == 0 {
		// What stays as it is open did not just come from the registry.
		stays := slices.DeleteFunc(slices.Clone(wanted), func(w promotion.Move) bool {
			available, moved := promotion.MoveOf(moves, w.Component)
			return moved && promotion.SameRollout(available.To, w.To)
		})
		blocking = condition.VerifyImages(in, stays, in.CurrentFact)
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
	return refreshed(in, moves, current), nil
}

// waitsBehind returns the moves that wait until the open pull request is merged or closed, by what supersede shows.
func waitsBehind(moves []promotion.Move, shown []promotion.Condition) []promotion.Move {
	if slices.ContainsFunc(shown, func(c promotion.Condition) bool { return c.Name == newer }) {
		return moves
	}
	return nil
}

// newer is the name of what shows that a newer version waits.
const newer = "newer"

func newerWaits(open promotion.Open, moves []promotion.Move, why string) promotion.Condition {
	return promotion.Condition{
		Name: newer, State: promotion.Pending,
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
