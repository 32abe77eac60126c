package decide

import (
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// applyHold stops a decision if a user put the target on hold or froze it. The
// hold that a rollback of a user sets does not stop the rollback itself.
func applyHold(in input.Target, d promotion.Decision, rollback bool) promotion.Decision {
	if d.State != promotion.Waiting && d.State != promotion.Proposed {
		return d
	}
	held, stopped := in.Held(false)
	if stopped && held.Freeze {
		frozen := promotion.Condition{Name: verb.BypassFreeze, State: promotion.Pending, Reason: heldBy(in.Target, held).Message}
		input.Bypass(in, &frozen, verb.BypassFreeze, d.Moves)
		if frozen.State == promotion.Passed {
			d.Conditions = append(slices.Clone(d.Conditions), frozen)
			held, stopped = in.Held(true)
		}
	}
	back := in.Record().Rollback
	ofRollback := rollback && !back.Automatic && held.Target == state.Target(in.Target) && !held.Freeze && held.Problem == ""
	if stopped && !ofRollback {
		d.State, d.Reason = promotion.Waiting, heldBy(in.Target, held)
	}
	return d
}
