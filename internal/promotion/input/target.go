// Package input holds what the decision about one target is made from: its settings, what its
// files have, what its sources have or had, and the user decisions about it. The conditions, the
// gates, and the decisions read it, and nothing changes it.
//
// Each part of a decision is a row of a table that declares what it reads, see Row. It gets a
// Target that returns only that.
package input

import (
	"iter"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/config/trust"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Subject is the target of a decision, with what all rows may read: the config as it applies
// to the target, what its files have, and which request applies. The first row of each decision
// declares that.
type Subject struct {
	Target   promotion.Target
	Config   *config.Config
	Settings config.Environment    // within the limits of the server
	Limited  []promotion.Condition // shows which settings the server limited
	Policies map[string]*image.Policy
	Verify   map[string][]trust.Requirement
	Current  promotion.Current
	Exists   bool // the application has files in the environment
	Refs     []Ref
	Sources  []promotion.Target // where the snapshot comes from, see Observation.Sources

	Request   *state.Request    // that applies to the target; nil: none
	Fulfilled *state.Request    // that is done
	Returns   *state.RolledBack // what the decision carries out; nil: it is no rollback

	Checkout  bool // see Observation.Checkout
	PushOnly  bool // see Observation.PushOnly
	Requested bool // the command line names the environment

	obs     *promotion.Observation
	index   *Index
	behind  [][]promotion.Target // the sources behind each parent
	open    *promotion.Open      // pull request of the target; nil: none
	all     []Ref                // also those that stay behind, see WithRefs
	latest  [][]Period           // one period of each source: what it has now
	periods [][]Period           // of each source; nil: nothing asked for them yet, see PeriodsOf
	leaving []promotion.Leaving  // upstream, once leavingKnown
	now     time.Time
	taken   *Reads // what the decisions about the application read so far

	leavingKnown bool
}

// Target is a Subject for one row: its methods return what the row declares to read. What it
// reads beyond that is a defect, see Reads.Undeclared. It embeds the subject because rows read
// mostly that.
type Target struct {
	*Subject
	declared Reads
}

// New returns the input of a target, for its first row. It adds what rows read to the set.
func New(ix *Index, target promotion.Target, now time.Time, taken *Reads) Target {
	obs := ix.observation(target.Application)
	settings, limited := obs.LimitedSettings(target.Environment, target.Application)
	current, exists := obs.Targets[target]
	s := &Subject{
		Target: target, Config: obs.Config, Settings: settings, Limited: limited,
		Policies: obs.Policies, Verify: obs.Verify,
		Current: current, Exists: exists, Refs: ix.refs[target], all: ix.refs[target],
		Checkout: obs.Checkout, PushOnly: obs.PushOnly, Requested: obs.Requested[target.Environment],
		obs: obs, index: ix, now: now, taken: taken,
	}
	for _, parent := range settings.After {
		behind := ix.sourcesBehind(parent.Environment, target.Application)
		s.behind = append(s.behind, behind)
		s.Sources = append(s.Sources, behind...)
	}
	s.Sources = sortedTargets(s.Sources)
	s.open = s.openFrom(promotion.HeadOf(settings, target.Application))
	in := Target{Subject: s}.For(rows[ofTarget])
	findLatest(in)
	s.Request, s.Fulfilled = requestOf(in)
	return in
}

// For returns the input of another row of the same decision.
func (in Target) For(row Row) Target {
	reads := row.Reads
	if in.open == nil {
		reads &^= PullRequest
	}
	*in.taken |= reads
	in.declared = row.Reads
	return in
}

// reads notes what a row reads, and whether it declares that.
func (in Target) reads(kinds Reads) {
	if missing := kinds &^ in.declared; missing != 0 {
		*in.taken |= Everything | missing<<undeclared
	}
}

// WithRefs returns the input of a decision about some of the references only: the others stay
// behind.
func (in Target) WithRefs(refs []Ref) Target {
	part := *in.Subject
	part.Refs = refs
	in.Subject = &part
	findLatest(in)
	return in
}

// WithoutRequest returns the input of a decision for which nothing is left of the request.
func (in Target) WithoutRequest() Target {
	without := *in.Subject
	without.Request = nil
	in.Subject = &without
	return in.Placed(false)
}

// Placed returns the input of a decision that is urgent or not: which pull request is that of the
// target depends on it, where the applications of an environment share one.
func (in Target) Placed(urgent bool) Target {
	if in.Settings.PullRequest.Group != setting.GroupEnvironment {
		return in
	}
	branch := promotion.GroupBranch(in.Settings.Name)
	if urgent {
		branch = promotion.HeadBranch(in.Settings.Name, in.Target.Application)
	}
	placed := *in.Subject
	placed.open = placed.openFrom(branch)
	in.Subject = &placed
	return in
}

// Returning returns the input of a decision that carries out a rollback, which is urgent.
func (in Target) Returning(back *state.RolledBack) Target {
	returning := *in.Subject
	returning.Returns = back
	in.Subject = &returning
	return in.Placed(true)
}

// openFrom returns the open pull request of a branch; nil: there is none.
func (s *Subject) openFrom(branch string) *promotion.Open {
	if open, found := s.obs.Open[branch]; found {
		return &open
	}
	return nil
}

// In returns the input of the same application in another environment, for the same decision.
func (in Target) In(environment string) Target {
	return New(in.index, promotion.Target{Environment: environment, Application: in.Target.Application}, in.now, in.taken)
}

// Now returns the time.
func (in Target) Now() time.Time {
	in.reads(Time)
	return in.now
}

// State returns what users decided, and what promoter recorded.
func (in Target) State() state.State {
	in.reads(UserDecisions)
	return in.obs.State
}

// Record returns what the state has about the target.
func (in Target) Record() state.Record { return in.State().At(state.Target(in.Target)) }

// leavingUpstream returns what the environments are leaving that the target follows, see Observation.LeavingUpstream.
func (in Target) leavingUpstream() []promotion.Leaving {
	in.reads(UserDecisions)
	if !in.leavingKnown {
		in.leaving, in.leavingKnown = in.obs.LeavingUpstream(in.Target), true
	}
	return in.leaving
}

// Held returns the hold that stops the target now, or the freeze, which counts unless freezes
// are bypassed. It is a row of its own: only a freeze that ends at a time depends on the time.
func (in Target) Held(bypassFreezes bool) (state.Held, bool) {
	held := in.For(rows[ofHold]).State().Held
	if bypassFreezes {
		held = in.obs.State.HeldWithoutFreezes
	}
	found, active := held(state.Target(in.Target), in.now)
	if found.Until != nil {
		in.For(rows[ofEndOfHold])
	}
	return found, active
}

// HasPullRequest reports whether a pull request of the target is open. No row has to declare
// that, because callers compare it.
func (in Target) HasPullRequest() bool { return in.open != nil }

// OpenPullRequest returns the open pull request of the target; nil: there is none.
func (in Target) OpenPullRequest() *promotion.Open {
	if in.open != nil {
		in.reads(PullRequest)
	}
	return in.open
}

// Rules returns what the forge requires on the branch of the target.
func (in Target) Rules() (promotion.Protection, bool) {
	in.reads(PullRequest)
	rules, known := in.obs.Protected[in.Settings.Branch]
	return rules, known
}

// Answers is what registries answered.
type Answers struct {
	Available map[string]promotion.Available // by component
	Explicit  map[string]promotion.Available // what a request names for the target, by component
	Facts     promotion.Facts
}

// Registry returns what registries answered about the images of the application.
func (in Target) Registry() Answers {
	in.reads(Registry)
	return Answers{in.obs.Available, in.obs.Explicit[in.Target], in.obs.Facts}
}

// Others is what the files of all targets of the application say.
type Others struct{ index *Index }

// Others returns what the files of other targets say.
func (in Target) Others() Others {
	in.reads(OtherTargets)
	return Others{in.index}
}

// Refs returns what the files of a target reference.
func (o Others) Refs(target promotion.Target) []Ref { return o.index.refs[target] }

// Ref returns the reference of a target to a component.
func (o Others) Ref(target promotion.Target, component string) (Ref, bool) {
	return refOf(o.index.refs[target], component)
}

// Refusals returns why files of a target are not read.
func (o Others) Refusals(target promotion.Target) []edit.Refusal {
	return o.index.obs.Targets[target].Refusals
}

// History is what the commits of the branches show.
type History struct {
	obs    *promotion.Observation
	target promotion.Target
}

// History returns what was in the targets of the application.
func (in Target) History() History {
	in.reads(Past)
	return History{in.obs, in.Target}
}

// Landed is what a landing shows of the history: a snapshot that is or was in a target.
type Landed struct {
	Snapshot promotion.Snapshot
	Until    time.Time // zero: it is there now
	Reverted bool
}

// Landings yields what is in a target, and what landed there before, newest first. What is reported about it is not history:
// see Period.
func (h History) Landings(at promotion.Target) iter.Seq[Landed] {
	return func(yield func(Landed) bool) {
		for i := range h.obs.Landings[at] {
			if l := &h.obs.Landings[at][i]; (i == 0 || !l.ByUser) && !yield(Landed{l.Snapshot, l.Until, l.Reverted}) {
				return
			}
		}
	}
}

// ByHand reports whether a user wrote the version of a component that is in the target: no commit of promoter brought it,
// as far as that is known.
func (h History) ByHand(component string, version image.Version) (byUser bool) {
	for i := range h.obs.Landings[h.target] {
		l := &h.obs.Landings[h.target][i]
		if !promotion.SameRollout(l.Snapshot[component].Version, version) {
			break
		}
		byUser = l.ByUser // of those that have it, the first one brought it
	}
	return byUser
}

// Reverted are the versions that users reverted in the target.
func (h History) Reverted() []promotion.Reversion { return h.obs.Reverted[h.target] }

// Restored returns what the commit that a rollback names had of a component.
func (h History) Restored(component string) (promotion.Pinned, bool) {
	pinned, found := h.obs.Restored[h.target][component]
	return pinned, found
}

// Falsified returns the claims about the target that its files contradict.
func (h History) Falsified() []promotion.Reason { return h.obs.Falsified[h.target] }

// Moving reports whether a component follows a moving tag.
func (s *Subject) Moving(component string) bool { return IsMoving(s.Policies[component]) }

// RefOf returns the reference of the target to a component, also if that stays behind.
func (s *Subject) RefOf(component string) (Ref, bool) { return refOf(s.all, component) }

// Unavailable returns why the branch of an environment is not available.
func (s *Subject) Unavailable(environment string) (string, bool) {
	why, unavailable := s.obs.Unavailable[environment]
	return why, unavailable
}

// Behind returns the sources behind the parent with an index in Settings.After, see Observation.Sources.
func (s *Subject) Behind(parent int) []promotion.Target { return s.behind[parent] }

// SettingsIn returns the settings of the application in another environment.
func (s *Subject) SettingsIn(environment string) config.Environment {
	return s.obs.Settings(environment, s.Target.Application)
}

// SettingsOf returns the settings of another application in the environment of the target.
func (s *Subject) SettingsOf(application string) config.Environment {
	return s.obs.Settings(s.Target.Environment, application)
}

// Snapshot is what the target holds after the moves.
func (s *Subject) Snapshot(moves []promotion.Move) promotion.Snapshot {
	snapshot := make(promotion.Snapshot, len(s.all))
	for _, ref := range s.all {
		snapshot[ref.Component] = ref.Pinned()
	}
	for _, move := range moves {
		snapshot[move.Component] = promotion.Pinned{Repository: snapshot[move.Component].Repository, Version: move.To}
	}
	return snapshot
}

// RepositoryOf returns the repository of a component of the target.
func (s *Subject) RepositoryOf(component string) image.Repository {
	ref, _ := s.RefOf(component)
	return ref.Repository
}

// Named reports whether the user of a checkout named the environment: what cannot be
// evaluated does not block then.
func (s *Subject) Named() bool { return s.Checkout && s.Requested }

// ExplicitlyHere reports whether the user named both the environment and the
// versions on the command line: then the versions go straight into it.
func ExplicitlyHere(in Target) bool {
	return in.Requested && slices.ContainsFunc(in.Refs, func(ref Ref) bool {
		return in.Registry().Available[ref.Component].Explicit
	})
}

// NeverProposed returns the reason of an environment whose differences are only reported.
func NeverProposed(settings config.Environment) (promotion.Reason, bool) {
	if settings.Propose != setting.ProposeNever {
		return promotion.Reason{}, false
	}
	return promotion.Reason{Rule: promotion.RulePropose, Message: "propose is never: the difference is only reported"}, true
}

// CurrentFact is the lookup that verifies a version: where its tag points now. A
// moving tag is expected to move, so for it, and without a tag, only the digest
// counts.
func (s *Subject) CurrentFact(component string, v image.Version) promotion.Fact {
	fact := promotion.Fact{Repository: s.RepositoryOf(component), Tag: v.Tag}
	if s.Moving(component) || v.Tag == "" {
		fact.Digest = v.Digest
	}
	return fact
}

// ReleaseFact is the lookup that asks whether the tag of a version is a release. It is needed
// if releases are the versions.
func ReleaseFact(repository image.Repository, policy *image.Policy, v image.Version) (promotion.Fact, bool) {
	if policy == nil || v.Tag == "" {
		return promotion.Fact{}, false
	}
	source, released := policy.Release()
	return promotion.Fact{Repository: repository, Tag: v.Tag, Release: source}, released
}
