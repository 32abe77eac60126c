// Package promotion is the core of promoter. It decides, for every application in
// every environment, which versions it should have, and why.
//
// Plan is pure: it reads observed values and the time, performs no input or
// output, and returns the same decisions to the plan command, the service, and
// the tests. The package knows no forge, no registry client, and no file format.
//
// The package has more than 25 files because each condition and each gate has a
// file of its own (condition_*.go, gate_*.go) next to the table that lists them
// (condition.go, gate.go).
package promotion

import (
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/state"
)

// Plan decides about every target: environments in order, parents first, and in
// each of them the applications by name.
func Plan(observation Observation, now time.Time) []Decision {
	ix := newIndex(observation)
	decisions := make([]Decision, 0, len(observation.Targets))
	for _, environment := range observation.Scope() {
		for _, application := range ix.applicationsOf(environment) {
			decisions = append(decisions, planTarget(newInput(ix, Target{environment, application}, now)))
		}
	}
	addNotes(&observation, decisions, now)
	return decisions
}

// input is what the decision about one target is made from. It is read only.
type input struct {
	obs      *Observation
	ix       *index
	target   Target
	settings config.Environment // within the limits of the server
	limited  []Condition        // shows which settings the server limited
	current  Current
	refs     []currentRef
	sources  []Target            // where the snapshot comes from, see Observation.Sources
	latest   [][]tenure          // one tenure of each source: what it has now
	after    [][]parentCondition // of each parent, in the order of settings.After
	now      time.Time
	moves    []Move // whose gates are evaluated

	request   *state.Request // that applies to the target; nil: none
	fulfilled *state.Request // that is done
}

func newInput(ix *index, target Target, now time.Time) *input {
	settings, limited := ix.obs.settings(target.Environment, target.Application)
	in := &input{
		obs: ix.obs, ix: ix, target: target, settings: settings, limited: limited,
		current: ix.obs.Targets[target], refs: ix.refs[target],
		sources: ix.obs.sourcesOf(settings.After, target.Application), now: now,
	}
	in.latest = tenures(in, false)
	for _, parent := range settings.After {
		in.after = append(in.after, configuredConditions(parent))
	}
	in.request, in.fulfilled = requestOf(in)
	return in
}

// planTarget decides about one target.
func planTarget(in *input) Decision {
	d, rollback := decide(in)
	if part, ok := withoutRefused(in, d); ok {
		d = part
	}
	d = applyHold(in, d, rollback)

	d.Health = healthOf(in.obs, in.target, in.now)
	if back := in.obs.State.At(state.Target(in.target)).Rollback; back != nil && back.Automatic && len(in.refs) > 0 && !rollback {
		d.Returned = back
	}
	if d.Fulfilled == nil {
		d.Fulfilled = in.fulfilled
	}
	if d.Fulfilled == nil && d.State == Same {
		d.Fulfilled = in.obs.State.At(state.Target(in.target)).Request
	}
	if d.State == Same && len(in.current.Refusals) > 0 {
		// A file that cannot be read may contain something else.
		d.State, d.Reason = Refused, RefusedBy(in.current.Refusals)
	}
	if open, found := openPullRequest(in); found && open.Foreign == "" && d.State != Proposed {
		disposition := dispose(in, d, open)
		d.Disposition = &disposition
		if d.State == Unanswered {
			d.OpenMoves = movesTo(in, open.Snapshots[d.Application])
		}
	}
	return d
}

// withoutRefused decides again without the components that refusals or files on hold stop,
// if nothing else does: they do not hide the other components of a config without
// applications. A request or a rollback is never split.
func withoutRefused(in *input, d Decision) (Decision, bool) {
	stopped := d.State == Refused && d.Reason.Rule == RuleRefused || d.State == Waiting && d.Reason.Rule == RuleGate
	if !stopped || in.request != nil || in.obs.State.At(state.Target(in.target)).Rollback != nil {
		return d, false
	}
	part := *in
	part.refs = slices.DeleteFunc(slices.Clone(in.refs), func(ref currentRef) bool {
		_, stopped := in.stopped(Move{Component: ref.component})
		return stopped
	})
	if len(part.refs) == 0 || len(part.refs) == len(in.refs) {
		return d, false
	}
	part.latest = tenures(&part, false)
	without, _ := decide(&part)
	if len(without.Moves) == 0 || without.State != Proposed && without.State != Waiting {
		return d, false
	}
	for _, move := range d.Moves {
		if why, stopped := in.stopped(move); stopped {
			without.Left = append(without.Left, Left{Move: move, Reason: why})
			without.Conditions = append(without.Conditions, Condition{
				Name: move.Component, State: Blocked, Reason: "stays behind: " + why.Message,
			})
		}
	}
	return without, true
}

// stopped returns why files keep moves from being made.
func (in *input) stopped(moves ...Move) (Reason, bool) {
	components := make([]string, len(moves))
	for i, move := range moves {
		components[i] = move.Component
	}
	if refusals := in.stopping(components...); len(refusals) > 0 {
		return RefusedBy(refusals), true
	}
	if held := in.heldFiles(moves); len(held) > 0 {
		return Reason{Rule: RuleGate, Message: "gate hold: " + held[0].String()}, true
	}
	return Reason{}, false
}

// stopping returns the refusals that stop any of the components.
func (in *input) stopping(components ...string) []edit.Refusal {
	return slices.DeleteFunc(slices.Clone(in.current.Refusals), func(r edit.Refusal) bool {
		return len(r.Unaffected) > 0 && !slices.ContainsFunc(components, r.Stops)
	})
}

// decide goes from what makes a decision impossible to where the versions come
// from. It reports whether the decision is a rollback.
func decide(in *input) (d Decision, rollback bool) {
	if why, unavailable := in.obs.Unavailable[in.target.Environment]; unavailable {
		return unchanged(in, NotCheckedOut, Reason{Rule: RuleBranch, Message: why}), false
	}
	if _, exists := in.obs.Targets[in.target]; !exists {
		return unchanged(in, Absent, absent(in.target)), false
	}
	if len(in.refs) == 0 {
		_, never := neverProposed(in)
		switch {
		case len(in.current.Refusals) > 0 && never: // it is not written, so this is no failure
			return unchanged(in, Waiting, RefusedBy(in.current.Refusals)), false
		case len(in.current.Refusals) > 0:
			return unchanged(in, Refused, RefusedBy(in.current.Refusals)), false
		}
		return unchanged(in, NoReference, noReference(upstreamSnapshot(in))), false
	}
	back, active := fromRollback(in)
	if active && (back.State == Proposed || !in.obs.State.At(state.Target(in.target)).Rollback.Automatic) {
		return back, true
	}
	d = fromVersions(in)
	if active && d.State != Proposed { // what promoter cannot roll back stops no newer versions
		return back, true
	}
	return d, false
}

// fromVersions decides about a target by what users requested, and by the versions of the
// registry or the parents.
func fromVersions(in *input) Decision {
	if d, active := fromRequest(in); active {
		return d
	}
	done := in.fulfilled
	if in.request != nil && len(in.request.With) > 0 {
		// The files have the requested versions: nothing is left of the request.
		without := *in
		without.request = nil
		in, done = &without, in.request
	}
	from := fromParents
	if len(in.settings.After) == 0 || explicitlyHere(in) {
		from = fromRegistry
	}
	d := from(in)
	d.Fulfilled = done
	return d
}

// named reports whether the user of a checkout named the environment: what cannot be
// evaluated does not block then.
func (in *input) named() bool {
	return in.obs.Checkout && in.obs.Requested[in.target.Environment]
}

// explicitlyHere reports whether the user named both the environment and the
// versions on the command line: then the versions go straight into it.
func explicitlyHere(in *input) bool {
	return in.obs.Requested[in.target.Environment] && slices.ContainsFunc(in.refs, func(ref currentRef) bool {
		return in.obs.Available[ref.component].Explicit
	})
}

// unchanged is a decision that moves nothing.
func unchanged(in *input, s State, reason Reason) Decision {
	return Decision{Target: in.target, State: s, Reason: reason, Snapshot: in.snapshot(nil)}
}

// waiting is a decision for moves that cannot be proposed.
func waiting(in *input, moves []Move, reason Reason) Decision {
	return Decision{Target: in.target, State: Waiting, Reason: reason, Snapshot: in.snapshot(moves), Moves: moves}
}

// snapshot is what the target holds after the moves.
func (in *input) snapshot(moves []Move) Snapshot {
	all := in.ix.refs[in.target] // also those that stay behind
	snapshot := make(Snapshot, len(all))
	for _, ref := range all {
		snapshot[ref.component] = ref.pinned()
	}
	for _, move := range moves {
		snapshot[move.Component] = Pinned{Repository: snapshot[move.Component].Repository, Version: move.To}
	}
	return snapshot
}

// propose is the decision for moves: proposed, unless a user decision, a
// condition, the propose mode, or a file that cannot be written prevents it.
func propose(in *input, moves []Move, reason Reason, conditions []Condition) Decision {
	conditions = slices.Concat(conditions, signatures(in, moves), mirrored(in, moves))
	d := draft(in, moves, reason, conditions)
	if d.Request = requestFor(in, d.Snapshot); d.Request != nil {
		d.Requested = &d.Request.Act
	}
	blocking, blocked := FirstBlocking(conditions, in.obs.Checkout) // what is known is the better reason
	if !blocked {
		blocking, blocked = FirstBlocking(conditions, in.named())
	}
	if s, why, decided := userDecision(in, moves); decided {
		d.State, d.Reason = s, why
	} else if blocked {
		d.State, d.Reason = Waiting, BlockedBy(blocking)
	} else if why, held := heldByProposeMode(in, d); held {
		d.State, d.Reason = Waiting, why
	}
	return refuse(in, d)
}

// draft is the decision for moves that nothing prevents.
func draft(in *input, moves []Move, reason Reason, conditions []Condition) Decision {
	d := Decision{
		Target: in.target, State: Proposed, Reason: reason, Snapshot: in.snapshot(moves), Moves: moves,
		Conditions: conditions, Gates: evaluateGates(in, moves),
	}
	if open, found := openPullRequest(in); found {
		d.ApprovedBy = approvedBy(in, open)
	}
	return d
}

// refuse stops a decision that cannot be carried out, because the repository has
// no pull requests or a file cannot be written, or may not be. What is never proposed needs neither.
func refuse(in *input, d Decision) Decision {
	if _, never := neverProposed(in); never {
		return d
	}
	if in.obs.PushOnly && in.settings.Land != config.LandPush {
		d.State, d.Reason = Refused, Reason{Rule: RuleForge, Message: "land is " + string(in.settings.Land) +
			", but this repository has no pull requests: it is plain Git, or they are disabled (write land: push)"}
	}
	switch why, stopped := in.stopped(d.Moves...); {
	case stopped && why.Rule == RuleRefused:
		d.State, d.Reason = Refused, why
	case stopped && d.State == Proposed:
		d.State, d.Reason = Waiting, why
	}
	return d
}

// heldByProposeMode returns why the propose mode of the environment keeps a
// decision from being proposed.
func heldByProposeMode(in *input, d Decision) (Reason, bool) {
	if why, never := neverProposed(in); never {
		return why, true
	}
	if in.settings.Propose != config.ProposeManual || in.obs.Requested[in.target.Environment] || d.Request != nil {
		return Reason{}, false
	}
	if in.request != nil {
		return Reason{Rule: RulePropose, Message: "propose is manual: another snapshot was requested"}, true
	}
	return Reason{Rule: RulePropose, Message: "propose is manual: waiting for a request"}, true
}

func neverProposed(in *input) (Reason, bool) {
	if in.settings.Propose != config.ProposeNever {
		return Reason{}, false
	}
	return Reason{Rule: RulePropose, Message: "propose is never: the difference is only reported"}, true
}
