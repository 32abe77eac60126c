package decide

import (
	"fmt"
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// notesOf returns what was claimed falsely about a target, its health, and, if it has no
// pending move, what a user asks next: whether a hold or freeze is in effect. In a checkout none of
// it is known.
func notesOf(in input.Target, d promotion.Decision) []promotion.Reason {
	if in.Checkout {
		return nil
	}
	notes := slices.Clip(in.For(parts[ofClaims]).History().Falsified())
	for i, f := range in.Current.Foreign {
		if i == maxForeign {
			more := promotion.Reasonf(promotion.RuleLine, "%d more references are of other lines of versions", len(in.Current.Foreign)-i)
			notes = append(notes, more)
			break
		}
		notes = append(notes, promotion.Reasonf(promotion.RuleLine, "%s:%d: %s", f.Position.File, f.Position.Line, f.Reason))
	}
	notes = append(notes, rejectedHere(in)...)
	if d.Health != nil {
		notes = append(notes, healthNote(*d.Health, d.Snapshot.With(backwardsOf(d.Moves))))
	}
	if d.Ended != nil {
		notes = append(notes, endedRequest(d.Ended.Request.Act, d.Ended.Request.For, d.Ended.Reason.Message))
	} else if ended := in.For(parts[ofRequestEnd]).Record().EndedRequest; ended != nil && d.State != promotion.Same {
		notes = append(notes, endedRequest(ended.Act, ended.For, ended.Why))
	}
	if d.State != promotion.Same && d.State != promotion.Reverted && d.State != promotion.Rejected {
		return notes
	}
	if held, active := in.Held(false); active {
		notes = append(notes, heldBy(in.Target, held))
	}
	return notes
}

// rejectedHere returns a note about each version that the files have although it is rejected in the target. Files
// decide what is there, and an explicit rejection ends only by unreject: no environment gets the version from here.
func rejectedHere(in input.Target) (notes []promotion.Reason) {
	in = in.For(parts[ofRejectedHere])
	for _, ref := range in.Refs {
		current, agreed := ref.Agreed()
		if !agreed {
			continue
		}
		rejection, scope, rejected := in.State().RejectedBy(state.Target(in.Target), ref.Repository, current)
		if !rejected {
			continue
		}
		text := input.RejectedText(in.State(), in.Target, promotion.Move{Component: ref.Component, To: current}, rejection)
		if in.History().ByHand(ref.Component, current) {
			text += "; a user wrote it here by hand"
		} else {
			text += "; it is still here"
		}
		notes = append(notes, promotion.Reason{Rule: promotion.RuleRejected, Scope: scope, Message: text + ", and goes nowhere from here"})
	}
	return notes
}

// addUpstreamNotes adds why a newer version does not arrive to the decisions of targets that have
// what their sources have.
func addUpstreamNotes(obs *promotion.Observation, decisions []promotion.Decision, reads map[string]input.Reads) {
	if obs.Checkout {
		return
	}
	pending := map[promotion.Target]*promotion.Decision{}
	for i := range decisions {
		if d := &decisions[i]; (d.State == promotion.Waiting || d.State == promotion.Proposed) && !promotion.OnlyForm(d.Moves) {
			pending[d.Target] = d
		}
	}
	if len(pending) == 0 {
		return
	}
	upstream := map[string][]string{} // of each environment, the nearest first
	for _, environment := range obs.Scope() {
		upstream[environment] = obs.Config.Ancestors(environment)
		slices.Reverse(upstream[environment])
	}
	for i := range decisions {
		d := &decisions[i]
		if d.State != promotion.Same {
			continue
		}
		for _, ancestor := range upstream[d.Environment] {
			next := pending[promotion.Target{Environment: ancestor, Application: d.Application}]
			if next == nil {
				continue
			}
			reads[d.Application] |= parts[ofUpstream].Reads
			d.Notes = append(d.Notes, pendingUpstream(next))
			break
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
