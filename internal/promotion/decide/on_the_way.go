package decide

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/gate"
	"promoter/internal/promotion/input"
)

// A version that is already replaced is not landed on the way. If a push brings a newer version to the source of a target, and the
// newer one goes on from there without a condition, the target waits for it instead of landing the older one a moment earlier.
// Nothing is lost if the newer one does not come: what a source had stays a candidate.
//
// That is so for pushes to one branch, which succeed or fail together, so that a branch that refuses pushes stops no
// other environment. A user who requested the older one, newer: queue, and newer: drain want it all the same.

// arriving is what targets get from pushes of the plan, and from those that follow them at once: the snapshots after it.
type arriving map[promotion.Target]promotion.Snapshot

// onTheWay returns the decision about a target whose source moves on: it waits if the source had only replaced
// versions for it. It notes what arrives in the target, for those that follow it.
func onTheWay(in input.Target, d promotion.Decision, coming arriving) promotion.Decision {
	if in.Checkout || in.Settings.Land != setting.LandPush {
		return d
	}
	if lands(d) {
		coming[in.Target] = d.Snapshot
	}
	source, follows := directSource(in)
	next, moves := coming[source]
	if !follows || !moves || d.Request != nil || d.IsRollback() || d.State != promotion.Proposed && d.State != promotion.Same {
		return d
	}
	in = in.For(parts[ofTheWay])
	newer := promotion.VersionMoves(input.MovesTo(in, next))
	if _, _, unwanted := input.UserDecision(in, newer); unwanted || len(newer) == 0 {
		return d
	}
	if _, held := in.Held(false); held {
		return d
	}
	if _, blocked := promotion.FirstBlocking(gate.Evaluate(in, newer), false); blocked {
		return d
	}
	if d.State == promotion.Proposed && !replaces(newer, d.Moves) {
		return d
	}
	coming[in.Target] = in.Snapshot(newer)
	if d.State == promotion.Proposed {
		d.State = promotion.Waiting
		text := promotion.TargetsText(newer...)
		d.Reason = promotion.Reasonf(promotion.RuleParent, "replaced on the way: %s gets %s first", source.Environment, text)
	}
	return d
}

// lands reports whether a decision lands by a push now.
func lands(d promotion.Decision) bool {
	_, blocked := promotion.FirstBlocking(d.Gates, false)
	return d.State == promotion.Proposed && !blocked && !promotion.OnlyForm(d.Moves)
}

// directSource returns the one source of a target that passes everything on at once: without a condition, and on
// the same branch.
func directSource(in input.Target) (promotion.Target, bool) {
	if len(in.Sources) != 1 || in.Settings.Propose != setting.ProposeAutomatic || in.Settings.Newer != setting.NewerRefresh {
		return promotion.Target{}, false
	}
	for i := range in.Settings.After {
		if condition.Has(&in.Settings.After[i]) {
			return promotion.Target{}, false
		}
	}
	source := in.Sources[0]
	return source, in.SettingsIn(source.Environment).Branch == in.Settings.Branch
}

// replaces reports whether newer moves change each component that other moves change, at least one of them to another
// version.
func replaces(newer, moves []promotion.Move) bool {
	differs := false
	for _, move := range moves {
		next, found := promotion.MoveOf(newer, move.Component)
		if !found {
			return false
		}
		differs = differs || !promotion.SameRollout(next.To, move.To)
	}
	return differs
}
