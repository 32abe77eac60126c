// Package input holds what the decision about one target is made from: its settings, what its
// files have, what its sources have or had, and the user decisions about it. The conditions, the
// gates, and the decisions read it, and nothing changes it.
package input

import (
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Target is what the decision about one target is made from. It is read only, except that it
// notes whether the decision is volatile, and keeps the tenures that it returned.
type Target struct {
	Obs      *promotion.Observation
	Index    *Index
	Target   promotion.Target
	Settings config.Environment    // within the limits of the server
	Limited  []promotion.Condition // shows which settings the server limited
	Current  promotion.Current
	Refs     []Ref
	Sources  []promotion.Target // where the snapshot comes from, see Observation.Sources
	Latest   [][]Tenure         // one tenure of each source: what it has now
	tenures  [][]Tenure         // of each source; nil: nothing asked for them yet, see TenuresOf

	Request   *state.Request // that applies to the target; nil: none
	Fulfilled *state.Request // that is done

	all      []Ref // also those that stay behind, see WithRefs
	now      time.Time
	volatile *bool // of the application, see Volatile
}

// New returns the input of a target.
func New(ix *Index, target promotion.Target, now time.Time) *Target {
	return newTarget(ix, target, now, new(bool))
}

func newTarget(ix *Index, target promotion.Target, now time.Time, volatile *bool) *Target {
	obs := ix.observation(target.Application)
	settings, limited := obs.LimitedSettings(target.Environment, target.Application)
	in := &Target{
		Obs: obs, Index: ix, Target: target, Settings: settings, Limited: limited,
		Current: obs.Targets[target], Refs: ix.Refs[target],
		Sources: obs.SourcesOf(settings.After, target.Application), now: now, volatile: volatile,
	}
	in.all = in.Refs
	in.findLatest()
	in.Request, in.Fulfilled = in.requestOf()
	return in
}

// WithRefs returns the input of a decision about some of the references only: the others stay
// behind.
func (in *Target) WithRefs(refs []Ref) *Target {
	part := *in
	part.Refs = refs
	part.findLatest()
	return &part
}

// In returns the input of the same application in another environment, for the same decision.
func (in *Target) In(environment string) *Target {
	return newTarget(in.Index, promotion.Target{Environment: environment, Application: in.Target.Application}, in.now, in.volatile)
}

// Now returns the time. A decision that reads it is volatile.
func (in *Target) Now() time.Time {
	*in.volatile = true
	return in.now
}

// Volatile notes that the decision depends on more than the config, the files, the user
// decisions, the history of its branches, and the answers of registries about its images: on the time, on a pull
// request, or on what forges and sources of health report. It may be another one although none of the former
// changed.
func (in *Target) Volatile() { *in.volatile = true }

// IsVolatile reports whether Now or Volatile was called.
func (in *Target) IsVolatile() bool { return *in.volatile }

// Held returns the hold or freeze that stops the target now. One that ends at a time makes the
// decision volatile.
func (in *Target) Held() (state.Held, bool) {
	return in.noteEnd(in.Obs.State.Held(state.Target(in.Target), in.now))
}

// HeldWithoutFreezes returns the hold that stops the target, whatever is frozen.
func (in *Target) HeldWithoutFreezes() (state.Held, bool) {
	return in.noteEnd(in.Obs.State.HeldWithoutFreezes(state.Target(in.Target), in.now))
}

func (in *Target) noteEnd(held state.Held, active bool) (state.Held, bool) {
	if held.Until != nil {
		*in.volatile = true
	}
	return held, active
}

// Snapshot is what the target holds after the moves.
func (in *Target) Snapshot(moves []promotion.Move) promotion.Snapshot {
	snapshot := make(promotion.Snapshot, len(in.all))
	for _, ref := range in.all {
		snapshot[ref.Component] = ref.Pinned()
	}
	for _, move := range moves {
		snapshot[move.Component] = promotion.Pinned{Repository: snapshot[move.Component].Repository, Version: move.To}
	}
	return snapshot
}

// Named reports whether the user of a checkout named the environment: what cannot be
// evaluated does not block then.
func (in *Target) Named() bool {
	return in.Obs.Checkout && in.Obs.Requested[in.Target.Environment]
}

// ExplicitlyHere reports whether the user named both the environment and the
// versions on the command line: then the versions go straight into it.
func (in *Target) ExplicitlyHere() bool {
	return in.Obs.Requested[in.Target.Environment] && slices.ContainsFunc(in.Refs, func(ref Ref) bool {
		return in.Obs.Available[ref.Component].Explicit
	})
}

// NeverProposed returns the reason of an environment whose differences are only reported.
func (in *Target) NeverProposed() (promotion.Reason, bool) {
	if in.Settings.Propose != setting.ProposeNever {
		return promotion.Reason{}, false
	}
	return promotion.Reason{Rule: promotion.RulePropose, Message: "propose is never: the difference is only reported"}, true
}

// RepositoryOf returns the repository of a component of the target.
func (in *Target) RepositoryOf(component string) image.Repository {
	ref, _ := in.RefOf(component)
	return ref.Repository
}

// RefOf returns the reference of the target to a component, also if that stays behind.
func (in *Target) RefOf(component string) (Ref, bool) { return refOf(in.all, component) }

// CurrentFact is the lookup that verifies a version: where its tag points now. A
// moving tag is expected to move, so for it, and without a tag, only the digest
// counts.
func (in *Target) CurrentFact(component string, v image.Version) promotion.Fact {
	fact := promotion.Fact{Repository: in.RepositoryOf(component), Tag: v.Tag}
	if in.Index.Moving(component) || v.Tag == "" {
		fact.Digest = v.Digest
	}
	return fact
}

// ReleaseFact is the lookup that asks whether the tag of a version is a release. It is needed
// if releases are the versions.
func (in *Target) ReleaseFact(component string, v image.Version) (promotion.Fact, bool) {
	policy := in.Obs.Policies[component]
	if policy == nil || v.Tag == "" {
		return promotion.Fact{}, false
	}
	source, released := policy.Release()
	return promotion.Fact{Repository: in.RepositoryOf(component), Tag: v.Tag, Release: source}, released
}
