package promotion

import (
	"fmt"
	"slices"

	"promoter/internal/config"
)

// supersede decides between what is wanted now and what the open pull request of
// the target has, as the newer setting says. It returns the moves to propose, what
// blocks them, and what is only shown. It is called before the conditions, which
// are then those of the returned moves. Requested versions and rollbacks are not
// subject to it.
func supersede(in *input, moves []Move) (wanted []Move, blocking, shown []Condition) {
	wanted = moves
	if open, found := openPullRequest(in); found && in.settings.Land != config.LandPush {
		wanted, shown = againstOpen(in, open, moves)
	}
	if len(in.settings.After) == 0 {
		// What stays as it is open did not just come from the registry.
		stays := slices.DeleteFunc(slices.Clone(wanted), func(w Move) bool {
			available, moved := MoveOf(moves, w.Component)
			return moved && SameRollout(available.To, w.To)
		})
		blocking = verifyImages(in, stays, currentFact)
	}
	if in.settings.Newer == config.NewerDrain && !onlyForm(wanted) {
		blocking = append(blocking, drain(in)...)
	}
	return wanted, blocking, append(shown, starvedSoaks(in)...)
}

// againstOpen chooses between what is wanted now and what is open. A request for
// exactly the new snapshot counts as a decision about the open one.
func againstOpen(in *input, open Open, moves []Move) ([]Move, []Condition) {
	current, valid := openMoves(in, open)
	if !valid || sameMoves(current, moves) || requestsSnapshot(in) && isRequested(in, moves) {
		return moves, nil
	}
	if in.settings.Newer == config.NewerQueue {
		return current, []Condition{newerWaits(open, moves, "")}
	}
	// An approval is work: it is not discarded for a newer version.
	if by := approvedBy(in, open); len(by) > 0 {
		return current, []Condition{newerWaits(open, moves, ", which was approved by "+sortedNames(by))}
	}
	return refreshed(in, moves, current), nil
}

func newerWaits(open Open, moves []Move, why string) Condition {
	return Condition{
		Name: "newer", State: Pending,
		Reason: fmt.Sprintf("newer version waits: %s, until #%d is merged or closed%s", targetsText(moves...), open.Number, why),
	}
}

// refreshed returns what the pull request should have next. It never goes back: if
// a registry reports an older version or none, the component stays as it is open;
// if the parents have something older, the whole snapshot stays.
func refreshed(in *input, moves, open []Move) []Move {
	if len(in.settings.After) > 0 {
		if slices.ContainsFunc(open, func(o Move) bool { return wouldLower(in, moves, o) }) {
			return open
		}
		return moves
	}
	var merged []Move
	for _, ref := range in.refs {
		wanted, moved := MoveOf(moves, ref.component)
		current, isOpen := MoveOf(open, ref.component)
		if isOpen && (!moved || wouldLower(in, moves, current)) {
			merged = append(merged, current)
		} else if moved {
			merged = append(merged, wanted)
		}
	}
	return merged
}

// wouldLower reports whether the moves lead to an older version than the open one.
func wouldLower(in *input, moves []Move, open Move) bool {
	wanted, moved := MoveOf(moves, open.Component)
	return moved && isNewer(open.To, wanted.To, in.obs.Policies[open.Component])
}
