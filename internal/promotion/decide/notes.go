package decide

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// addNotes adds what was claimed falsely, and to the decisions of targets without a pending
// move what a user asks next: whether a hold or freeze is in effect, and why a newer version
// does not arrive. In a checkout none of it is known. It reports the applications with a note that
// ends at a time.
func addNotes(obs *promotion.Observation, decisions []promotion.Decision, now time.Time, volatile func(application string)) {
	if obs.Checkout {
		return
	}
	pending := sync.OnceValue(func() map[promotion.Target]*promotion.Decision {
		found := map[promotion.Target]*promotion.Decision{}
		for i := range decisions {
			if d := &decisions[i]; (d.State == promotion.Waiting || d.State == promotion.Proposed) && !promotion.OnlyForm(d.Moves) {
				found[d.Target] = d
			}
		}
		return found
	})
	upstream := map[string][]string{} // of each environment, the nearest first
	for _, environment := range obs.Scope() {
		upstream[environment] = obs.Config.Ancestors(environment)
		slices.Reverse(upstream[environment])
	}
	for i := range decisions {
		d := &decisions[i]
		d.Notes = append(d.Notes, obs.Falsified[d.Target]...)
		if d.Health != nil {
			d.Notes = append(d.Notes, healthNote(*d.Health, d.Snapshot.With(backwardsOf(d.Moves))))
		}
		if d.State != promotion.Same && d.State != promotion.Reverted && d.State != promotion.Rejected {
			continue
		}
		if held, active := obs.State.Held(state.Target(d.Target), now); active {
			d.Notes = append(d.Notes, heldBy(held))
			if held.Until != nil {
				volatile(d.Application)
			}
		}
		if d.State == promotion.Same {
			for _, ancestor := range upstream[d.Environment] {
				if next := pending()[promotion.Target{Environment: ancestor, Application: d.Application}]; next != nil {
					d.Notes = append(d.Notes, pendingUpstream(next))
					break
				}
			}
		}
	}
}

// pendingUpstream is the note about the nearest upstream environment that does not have a
// newer version yet.
func pendingUpstream(next *promotion.Decision) promotion.Reason {
	return promotion.Reason{
		Rule: promotion.RuleParent, Until: next.Reason.Until,
		Message: fmt.Sprintf("%s is %s in %s: %s", promotion.TargetsText(next.Moves...), next.State, next.Environment, next.Reason.Message),
	}
}
