// Package decide decides, for every application in every environment, which versions it should
// have, and why.
//
// Plan is pure: it reads observed values and the time, performs no input or output, and returns
// the same decisions to the plan command, the service, and the tests. Lookups and MirrorLookups
// return what it needs to know from registries. A context ends them, and so does a budget of steps: then
// there are no decisions, never some of them.
package decide

import (
	"context"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/gate"
	"promoter/internal/promotion/input"
)

// Plan decides about every target: environments in order, parents first, and in
// each of them the applications by name. The error is that of the context, or an Invalid fault that names the target
// with which the decisions exceeded their budget.
func Plan(ctx context.Context, observation promotion.Observation, now time.Time) ([]promotion.Decision, error) {
	decisions, _, err := PlanReads(ctx, observation, now)
	return decisions, err
}

// PlanReads is Plan, and returns what the decisions about each application read, as the
// evaluated rows declare it.
func PlanReads(
	ctx context.Context, observation promotion.Observation, now time.Time,
) ([]promotion.Decision, map[string]input.Reads, error) {
	ix := input.NewIndex(ctx, observation)
	reads := map[string]input.Reads{}
	decisions := make([]promotion.Decision, 0, ix.Len())
	coming := arriving{}
	var taken input.Reads // of the application of each target in turn
	for _, environment := range observation.Scope() {
		for _, application := range ix.ApplicationsOf(environment) {
			taken = reads[application]
			target := promotion.Target{Environment: environment, Application: application}
			decisions = append(decisions, planTarget(input.New(ix, target, now, &taken), coming))
			if err := ix.Err(target); err != nil {
				return nil, nil, err
			}
			reads[application] = taken
		}
	}
	addUpstreamNotes(&observation, decisions, reads)
	return decisions, reads, nil
}

// planTarget decides about one target.
func planTarget(in input.Target, coming arriving) promotion.Decision {
	d, rollback := decide(in)
	if part, ok := withoutRefused(in, d); ok {
		d = part
	}
	if rollback {
		in = in.Returning(in.Record().Rollback)
	}
	in = in.Placed(d.Urgent)
	d = onTheWay(in, applyHold(in, d, rollback), coming)

	d.Health = healthOf(in)
	record := in.Record()
	if back := record.Rollback; back != nil && back.Automatic && len(in.Refs) > 0 && !rollback {
		d.Returned = back
	}
	if d.Fulfilled == nil {
		d.Fulfilled = in.Fulfilled
	}
	if d.Fulfilled == nil && d.Ended == nil && d.State == promotion.Same && !isBound(record.Request) {
		d.Fulfilled = record.Request
	}
	if d.State == promotion.Same && len(in.Current.Refusals) > 0 {
		// A file that cannot be read may contain something else.
		d.State, d.Reason = promotion.Refused, promotion.RefusedBy(in.Current.Refusals)
	}
	open := in.OpenPullRequest()
	if open == nil && d.State != promotion.Proposed {
		d.Gates = withoutRules(d.Gates)
	}
	if open != nil && open.Foreign == "" && d.State != promotion.Proposed {
		disposition := dispose(in, d, *open)
		d.Disposition = &disposition
		if !disposition.Close {
			d.OpenMoves = input.MovesTo(in, open.Snapshots[d.Application])
		}
	}
	evaluateOutcome(in, d)
	d.Notes = append(d.Notes, notesOf(in, d)...)
	return d
}

// withoutRules returns the gates without those of the forge. The rules of a branch are known while anything
// is proposed to it: what waits would have them because of another application.
func withoutRules(gates []promotion.Condition) (own []promotion.Condition) {
	for _, gate := range gates {
		if !gate.Forge {
			own = append(own, gate)
		}
	}
	return own
}

// withoutRefused decides again without the components that refusals or files on hold stop,
// if nothing else does: they do not hide the other components of a config without
// applications. A request or a rollback is never split.
func withoutRefused(in input.Target, d promotion.Decision) (promotion.Decision, bool) {
	refused := d.State == promotion.Refused && d.Reason.Rule == promotion.RuleRefused
	held := d.State == promotion.Waiting && d.Reason.Rule == promotion.RuleGate
	if !refused && !held || in.Request != nil || in.Record().Rollback != nil {
		return d, false
	}
	refs := slices.DeleteFunc(slices.Clone(in.Refs), func(ref input.Ref) bool {
		_, stopped := input.Stopped(in, promotion.Move{Component: ref.Component})
		return stopped
	})
	if len(refs) == 0 || len(refs) == len(in.Refs) {
		return d, false
	}
	without, _ := decide(in.WithRefs(refs))
	if len(without.Moves) == 0 || without.State != promotion.Proposed && without.State != promotion.Waiting {
		return d, false
	}
	for _, move := range d.Moves {
		if why, stopped := input.Stopped(in, move); stopped {
			without.Left = append(without.Left, promotion.Left{Move: move, Reason: why})
			without.Conditions = append(without.Conditions, promotion.Condition{
				Name: move.Component, State: promotion.Blocked, Reason: "stays behind: " + why.Message,
			})
		}
	}
	return without, true
}

// decide goes from what makes a decision impossible to where the versions come
// from. It reports whether the decision is a rollback.
func decide(in input.Target) (d promotion.Decision, rollback bool) {
	if why, unavailable := in.Unavailable(in.Target.Environment); unavailable {
		return unchanged(in, promotion.NotCheckedOut, promotion.Reason{Rule: promotion.RuleBranch, Message: why}), false
	}
	if !in.Exists {
		return unchanged(in, promotion.Absent, absent(in.Target)), false
	}
	if len(in.Refs) == 0 {
		_, never := input.NeverProposed(in.Settings)
		switch {
		case len(in.Current.Refusals) > 0 && never: // it is not written, so this is no failure
			return unchanged(in, promotion.Waiting, promotion.RefusedBy(in.Current.Refusals)), false
		case len(in.Current.Refusals) > 0:
			return unchanged(in, promotion.Refused, promotion.RefusedBy(in.Current.Refusals)), false
		}
		return unchanged(in, promotion.NoReference, noReference(in.Current, upstreamSnapshot(in))), false
	}
	back, active := fromRollback(in)
	back.Urgent = active
	if active && (back.State == promotion.Proposed || !in.Record().Rollback.Automatic) {
		return back, true
	}
	d = fromVersions(in)
	if active && d.State != promotion.Proposed { // what promoter cannot roll back stops no newer versions
		return back, true
	}
	return d, false
}

// fromVersions decides about a target by what users requested, and by the versions of the
// registry or the parents. A request whose versions can no longer come has no effect.
func fromVersions(in input.Target) promotion.Decision {
	in = in.Placed(input.IsUrgent(in.Request))
	d := fromRequestOrSource(in)
	why, ends := requestEnds(in, d)
	if !ends {
		return d
	}
	d = fromRequestOrSource(in.WithoutRequest())
	d.Ended = &promotion.EndedRequest{Request: *in.Request, Reason: why}
	return d
}

func fromRequestOrSource(in input.Target) promotion.Decision {
	if d, active := fromRequest(in); active {
		d.Urgent = isUrgent(in, d)
		return d
	}
	done := in.Fulfilled
	if in.Request != nil && len(in.Request.With) > 0 {
		// The files have the requested versions: nothing is left of the request.
		done = in.Request
		in = in.WithoutRequest()
	}
	from := fromParents
	if len(in.Settings.After) == 0 || input.ExplicitlyHere(in) {
		from = fromRegistry
	}
	d := from(in)
	d.Fulfilled = done
	d.Urgent = isUrgent(in, d)
	return d
}

// isUrgent reports whether a decision is urgent because of the request that applies to it.
func isUrgent(in input.Target, d promotion.Decision) bool {
	if len(d.Moves) == 0 {
		return input.IsUrgent(in.Request)
	}
	return input.IsUrgent(input.RequestFor(in, d.Moves))
}

// unchanged is a decision that moves nothing.
func unchanged(in input.Target, s promotion.State, reason promotion.Reason) promotion.Decision {
	return promotion.Decision{Target: in.Target, State: s, Reason: reason, Snapshot: in.Snapshot(nil)}
}

// waiting is a decision for moves that cannot be proposed.
func waiting(in input.Target, moves []promotion.Move, reason promotion.Reason) promotion.Decision {
	return promotion.Decision{Target: in.Target, State: promotion.Waiting, Reason: reason, Snapshot: in.Snapshot(moves), Moves: moves}
}

// propose is the decision for moves: proposed, unless a user decision, a
// condition, the propose mode, or a file that cannot be written prevents it.
func propose(in input.Target, moves []promotion.Move, reason promotion.Reason, conditions []promotion.Condition) promotion.Decision {
	in = in.Placed(input.IsUrgent(input.RequestFor(in, moves)))
	conditions = slices.Concat(conditions, condition.Signatures(in, moves), condition.Mirrored(in, moves))
	d := draft(in, moves, reason, conditions)
	if d.Request = input.RequestFor(in, d.Moves); d.Request != nil {
		d.Requested = &d.Request.Act
	}
	blocking, blocked := promotion.FirstBlocking(conditions, in.Checkout) // what is known is the better reason
	if !blocked {
		blocking, blocked = promotion.FirstBlocking(conditions, in.Named())
	}
	if s, why, decided := input.UserDecision(in, moves); decided {
		d.State, d.Reason = s, why
	} else if blocked {
		d.State, d.Reason = promotion.Waiting, promotion.BlockedBy(blocking)
	} else if why, held := heldByProposeMode(in, d); held {
		d.State, d.Reason = promotion.Waiting, why
	}
	return refuse(in, d)
}

// draft is the decision for moves that nothing prevents.
func draft(in input.Target, moves []promotion.Move, reason promotion.Reason, conditions []promotion.Condition) promotion.Decision {
	return promotion.Decision{
		Target: in.Target, State: promotion.Proposed, Reason: reason,
		Snapshot: in.Snapshot(moves), Moves: moves,
		Conditions: conditions, Gates: gate.Evaluate(in, moves),
		ApprovedBy: gate.ApprovedBy(in),
	}
}

// refuse stops a decision that cannot be carried out, because the repository has
// no pull requests or a file cannot be written, or may not be. What is never proposed needs neither.
func refuse(in input.Target, d promotion.Decision) promotion.Decision {
	if _, never := input.NeverProposed(in.Settings); never {
		return d
	}
	if in.PushOnly && in.Settings.Land != setting.LandPush {
		d.State = promotion.Refused
		d.Reason = promotion.Reason{Rule: promotion.RuleForge, Message: "land is " + string(in.Settings.Land) +
			", but this repository has no pull requests: it is plain Git, or they are disabled (write land: push)"}
	}
	why, stopped := input.Stopped(in, d.Moves...)
	switch {
	case stopped && why.Rule == promotion.RuleRefused:
		d.State, d.Reason = promotion.Refused, why
	case stopped && d.State == promotion.Proposed:
		d.State, d.Reason = promotion.Waiting, why
	}
	return d
}

// heldByProposeMode returns why the propose mode of the environment keeps a
// decision from being proposed.
func heldByProposeMode(in input.Target, d promotion.Decision) (promotion.Reason, bool) {
	if why, never := input.NeverProposed(in.Settings); never {
		return why, true
	}
	if in.Settings.Propose != setting.ProposeManual || in.Requested || d.Request != nil {
		return promotion.Reason{}, false
	}
	if in.Request != nil {
		message := "propose is manual: another snapshot was requested"
		if images := imagesText(in.Request.For); images != "" {
			message += ", " + images
		}
		return promotion.Reason{Rule: promotion.RulePropose, Message: message}, true
	}
	return promotion.Reason{Rule: promotion.RulePropose, Message: "propose is manual: waiting for a request"}, true
}
