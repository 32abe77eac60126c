package promotion

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/state"
)

// addNotes adds what was claimed falsely, and to the decisions of targets without a pending
// move what a user asks next: whether a hold or freeze is in effect, and why a newer version
// does not arrive. In a checkout none of it is known.
func addNotes(obs *Observation, decisions []Decision, now time.Time) {
	if obs.Checkout {
		return
	}
	pending := map[Target]*Decision{}
	for i := range decisions {
		if d := &decisions[i]; (d.State == Waiting || d.State == Proposed) && !onlyForm(d.Moves) {
			pending[d.Target] = d
		}
	}
	for i := range decisions {
		d := &decisions[i]
		d.Notes = append(d.Notes, obs.Falsified[d.Target]...)
		if d.Health != nil {
			d.Notes = append(d.Notes, d.Health.note(d.Snapshot.With(backwardsOf(d.Moves))))
		}
		if d.State != Same && d.State != Reverted && d.State != Rejected {
			continue
		}
		if held, active := obs.State.Held(state.Target(d.Target), now); active {
			d.Notes = append(d.Notes, heldBy(held))
		}
		if d.State == Same {
			for _, ancestor := range slices.Backward(obs.Config.Ancestors(d.Environment)) {
				if next := pending[Target{ancestor, d.Application}]; next != nil {
					d.Notes = append(d.Notes, pendingUpstream(next))
					break
				}
			}
		}
	}
}

// pendingUpstream is the note about the nearest upstream environment that does not have a
// newer version yet.
func pendingUpstream(next *Decision) Reason {
	return Reason{
		Rule: RuleParent, Until: next.Reason.Until,
		Message: fmt.Sprintf("%s is %s in %s: %s", targetsText(next.Moves...), next.State, next.Environment, next.Reason.Message),
	}
}
