package condition

import (
	"fmt"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// Settle waits until no component got a newer version for some time, so that
// images that belong together are promoted together. The time counts from when
// each version was first available to the target.
func Settle(in input.Target, moves []promotion.Move) []promotion.Condition {
	settle := in.Config.Application(in.Target.Application).Settle
	moves = promotion.VersionMoves(moves)
	if settle == 0 || len(moves) == 0 {
		return nil
	}
	c := promotion.Condition{Name: "settle", State: promotion.Pending, Value: schedule.FormatDuration(settle)}
	if in.Checkout {
		c.State, c.Reason = promotion.Unknown, promotion.NotEvaluated
		return []promotion.Condition{c}
	}
	in = in.For(otherConditions[ofSettle])
	now := in.Now()
	var last promotion.Move
	var since time.Time
	for _, move := range moves {
		at, known := in.State().AvailableSince(state.Target(in.Target), promotion.StateVersion(move.Component, move.To))
		if !known {
			at = now // package record saves it
		}
		at = earlier(at, now)
		if last.Component == "" || at.After(since) {
			last, since = move, at
		}
	}
	c.Reason = fmt.Sprintf("%s available since %s", promotion.TargetsText(last), promotion.Moment(since))
	unsealed, found := in.State().UnsealedSince(state.Target(in.Target), promotion.StateVersion(last.Component, last.To))
	if found && unsealed.Before(since) {
		c.Reason += promotion.NoSeal(unsealed)
	}
	passAt(&c, since.Add(settle), now)
	return []promotion.Condition{c}
}
