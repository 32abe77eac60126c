package promotion

import (
	"fmt"
	"time"

	"promoter/internal/schedule"
	"promoter/internal/state"
)

// settle waits until no component got a newer version for some time, so that
// images that belong together are promoted together. The time counts from when
// each version was first available to the target.
func settle(in *input, moves []Move) []Condition {
	settle := in.obs.Config.Application(in.target.Application).Settle
	if moves = versionMoves(moves); settle == 0 || len(moves) == 0 {
		return nil
	}
	c := Condition{Name: "settle", State: Pending, Value: schedule.FormatDuration(settle)}
	if in.obs.Checkout {
		c.State, c.Reason = Unknown, notEvaluated
		return []Condition{c}
	}
	var last Move
	var since time.Time
	for _, move := range moves {
		at, known := in.obs.State.AvailableSince(state.Target(in.target), state.Version{
			Component: move.Component, Tag: move.To.Tag, Digest: move.To.Digest,
		})
		if !known {
			at = in.now // package record saves it
		}
		if at = earlier(at, in.now); last.Component == "" || at.After(since) {
			last, since = move, at
		}
	}
	c.Reason = fmt.Sprintf("%s available since %s", targetsText(last), moment(since))
	if due := since.Add(settle); in.now.Before(due) {
		c.Until = &due
	} else {
		c.State = Passed
	}
	return []Condition{c}
}
