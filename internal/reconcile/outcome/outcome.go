// Package outcome is what a reconciliation of one repository observed, decided, and did, as the command line, the
// history, notifications, and pages read it.
package outcome

import (
	"context"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/explain"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/plan"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Report is what a reconciliation of one repository observed and did.
type Report struct {
	Repository identity.RepositoryKey
	Name       string
	Config     *config.Config // of the default branch; nil: it could not be read
	Decisions  []promotion.Decision
	// Touched are the applications about which something was decided or done; nil: all of them. What
	// the report has about others is as in the report before.
	Touched map[string]bool
	Effects []Effect
	// Errors are the parts of the repository that failed, such as a branch or a
	// registry. The rest was done.
	Errors []repo.PartialError
	// Unusable is why nothing can be done in the repository, such as that it is
	// archived, with what to do about it.
	Unusable string
	// Again reports that there is more to do at once: the reconciliation ended because it
	// reached MaxFollowing.
	Again bool
	// Mismatch is how decisions that were kept from an earlier reconciliation differed from those made again before
	// they were carried out. Then all were made again. Empty: they did not.
	Mismatch string
	// CommandsAt is when commands that are too new can be read; zero: there are none.
	CommandsAt time.Time

	// Problems are what loading the config file reported: errors where it cannot be used, else
	// warnings.
	Problems config.Problems
	// Refused are the files, or locations in them, that are left unchanged, by target.
	Refused map[promotion.Target][]edit.Refusal
	// Unfollowed are the references to images that no component follows where they are, by branch.
	Unfollowed map[string][]edit.Reference
	// Drift is what no promotion brought, or will change.
	Drift []drift.Drift
	// Paths are the ways of the components that a user asked about: see the package reconcile.
	Paths []explain.Path

	// The rest is for the history. Heads are the fetched branches at the end, nil when
	// the reconciliation did not get that far. UserDecisions contains the state branch
	// as each reconciliation read it, and as the last one left it. Landings are known
	// for the targets for which they were needed.
	Default       string
	Heads         map[string]string
	UserDecisions []state.State
	Landings      map[promotion.Target][]promotion.Landing
}

// Action is what was done about a proposal.
type Action string

// The actions.
const (
	ActionNone      Action = "nothing"
	ActionPushed    Action = "pushed"    // a commit to the environment's branch
	ActionOpened    Action = "opened"    // a pull request
	ActionRefreshed Action = "refreshed" // its head, for other versions or a newer base
	ActionUpdated   Action = "updated"   // only its title or body
	ActionMerged    Action = "merged"
	ActionClosed    Action = "closed"
)

// Effect is a proposal with what was done about it.
type Effect struct {
	propose.Proposal
	// Promotions are the ids of its promotions, in the order of its decisions.
	Promotions []string
	// Changes are what users read about its versions, as far as it was read.
	Changes map[pullrequest.ChangeKey]pullrequest.Change
	Action  Action
	Number  int    // of the pull request
	URL     string // of the pull request
	Commit  string // that was pushed or merged
	// Planned is set in a dry run if the run would push or merge it.
	Planned bool
	// Follows are the environments upstream into which a dry run would land first.
	Follows []string
	// Deferred is set if what decides changed just now, or the forge does not merge at this moment:
	// it is tried again in seconds.
	Deferred bool
	Err      error // why the action failed
}

// Failed returns the effect with an error.
func (e Effect) Failed(err error) Effect {
	e.Err = err
	return e
}

// Failed reports whether any part failed.
func (r Report) Failed() bool {
	return len(r.Errors) > 0 || r.Unusable != "" || slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Err != nil })
}

// Defers reports whether the forge defers a merge.
func (r Report) Defers() bool {
	return slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Deferred && e.Err == nil })
}

// After returns the report with the effects and user decisions of the reconciliations
// before it. An effect of one of them is kept; of what was only proposed, the later
// reconciliation knows better. What it could not do at once is an effect of its own.
func (r Report) After(before Report) Report {
	effects := slices.DeleteFunc(slices.Clone(before.Effects), func(e Effect) bool { return e.Action == ActionNone })
	for i := range effects { // the later one tried it again
		effects[i].Deferred = false
	}
	for _, e := range r.Effects {
		if e.Action != ActionNone || e.Err != nil || e.Deferred || !slices.ContainsFunc(effects, e.sameBranch) {
			effects = append(effects, e)
		}
	}
	r.Effects = effects
	r.UserDecisions = slices.Concat(before.UserDecisions, r.UserDecisions)
	if r.Touched != nil && before.Repository != "" {
		r.Touched = before.touchedWith(r.Touched)
	}
	r.Decisions = WithFalseClaims(r.Decisions, before.Decisions)
	r.Errors = repo.After(r.Errors, before.Errors)
	if r.Mismatch == "" {
		r.Mismatch = before.Mismatch
	}
	return r
}

// touchedWith returns the touched applications of a report and of a later one; nil: all.
func (r Report) touchedWith(later map[string]bool) map[string]bool {
	if r.Touched == nil {
		return nil
	}
	all := maps.Clone(r.Touched)
	maps.Copy(all, later)
	return all
}

// WithFalseClaims returns decisions with the false claims of earlier ones: a claim is noted
// when its history is read, which the last cycle may not need.
func WithFalseClaims(decisions, earlier []promotion.Decision) []promotion.Decision {
	kept := decisions
	for _, d := range earlier {
		for _, note := range d.Notes {
			if note.Rule != promotion.RuleFalseClaim {
				continue
			}
			i := slices.IndexFunc(kept, func(now promotion.Decision) bool { return now.Target == d.Target })
			if i >= 0 && !slices.Contains(kept[i].Notes, note) {
				kept = slices.Clone(kept)
				kept[i].Notes = append(slices.Clone(kept[i].Notes), note)
			}
		}
	}
	return kept
}

// sameBranch reports whether both are about one pull request, or the same pushed
// applications.
func (e Effect) sameBranch(other Effect) bool {
	targets := func(a, b promotion.Decision) bool { return a.Target == b.Target }
	return e.Head == other.Head && (e.Head != "" || slices.EqualFunc(e.Decisions, other.Decisions, targets))
}

// Unplanned is the report of a reconciliation that planned nothing.
func Unplanned(o observe.Observation) Report {
	return Report{
		Repository: o.Info.Key, Name: o.Info.Name, Config: o.Promotion.Config,
		Errors: o.Failures.Errors, Unusable: o.Unusable, Problems: o.Problems,
		CommandsAt:    o.CommandsAt,
		UserDecisions: []state.State{o.Branch.Counts},
	}
}

// Of is the report at the end of a reconciliation.
func Of(o observe.Observation, made plan.Plan, effects []Effect) Report {
	report := Unplanned(o)
	report.Decisions, report.Effects = stuck(propose.Queued(made.Decisions, made.Proposals), effects), effects
	observed := DriftOf(o, made.Decisions)
	report.Touched = o.Promotion.Applications
	report.Drift, report.Unfollowed = o.Entry.Drift(observed), observed.Others
	report.Refused = map[promotion.Target][]edit.Refusal{}
	for target, current := range o.Promotion.Targets {
		if len(current.Refusals) > 0 {
			report.Refused[target] = current.Refusals
		}
	}
	report.Default, report.Heads = o.Refs.Default, o.Heads
	report.Landings = o.Promotion.Landings
	report.UserDecisions = append(report.UserDecisions, o.Promotion.State)
	report.Problems = slices.Concat(report.Problems, promotion.GoneProblems(o.Promotion.State, repo.ConfigFile))
	return report
}

// Preview reports the proposals of a plan that is not carried out.
func Preview(o observe.Observation, made plan.Plan) Report {
	var effects []Effect
	for _, p := range made.Proposals {
		effects = append(effects, Effect{Proposal: p, Action: ActionNone, Err: o.SkipReason(p, o.Failures.SkipReason)}.WithPromotions(o))
	}
	return Of(o, made, effects)
}

// Entry returns what the next reconciliation needs of this one; nil if anything failed, because then the next
// one decides about everything.
func (r Report) Entry(o observe.Observation, made plan.Plan) *cache.Entry {
	if r.Failed() || o.Refreshed || o.Explained != nil || o.Failures.Any() {
		return nil
	}
	return cache.New(o.Read(), cache.Decided{
		Decisions: made.Decisions, Reads: made.Reads,
		Attempts: o.Attempts, Others: others(o), Drift: r.Drift,
	}, o.Entry)
}

// DriftOf returns what the drift of an observation is found in.
func DriftOf(o observe.Observation, decisions []promotion.Decision) drift.Observed {
	return drift.Observed{Promotion: o.Promotion, Decisions: decisions, Others: others(o), Now: o.Now}
}

// others returns, by branch, the references that no component follows where they are.
func others(o observe.Observation) map[string][]edit.Reference {
	all := map[string][]edit.Reference{}
	for environment, tree := range o.Trees {
		if settings, known := o.Promotion.Config.Environment(environment); known {
			all[o.Promotion.BranchOf(*settings)] = tree.Others()
		}
	}
	return all
}

// WithPromotions returns an effect with the ids of its promotions. A snapshot that was
// reverted and lands again is another promotion.
func (e Effect) WithPromotions(o observe.Observation) Effect {
	for _, decision := range e.Decisions {
		id := decision.Snapshot.ID()
		e.Promotions = append(e.Promotions, promotion.ID(o.Info.Key, decision.Target, id, 1+o.Attempts[decision.Target][id]))
	}
	return e
}

// Tracer is called when a part of a reconciliation begins. It returns the context for
// the part, and a function that is called with the effects of the part when it ends.
// The parts are "attempt", in it "observe" and "plan", and the step of each
// proposal that changes something.
type Tracer func(ctx context.Context, part string) (context.Context, func(effects []Effect, err error))

// Begin begins a part. A nil Tracer traces nothing.
func (t Tracer) Begin(ctx context.Context, part string) (context.Context, func([]Effect, error)) {
	if t == nil {
		return ctx, func([]Effect, error) {}
	}
	return t(ctx, part)
}
