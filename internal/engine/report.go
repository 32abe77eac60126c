package engine

import (
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
	// Paths are the ways of the components that a user asked about: see Explain.
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
	Err     error // why the action failed
}

// failed returns the effect with an error.
func (e Effect) failed(err error) Effect {
	e.Err = err
	return e
}

// Failed reports whether any part failed.
func (r Report) Failed() bool {
	return len(r.Errors) > 0 || r.Unusable != "" || slices.ContainsFunc(r.Effects, func(e Effect) bool { return e.Err != nil })
}

// after returns the report with the effects and user decisions of the reconciliations
// before it. An effect of one of them is kept; of what was only proposed, the later
// reconciliation knows better.
func (r Report) after(before Report) Report {
	effects := slices.DeleteFunc(slices.Clone(before.Effects), func(e Effect) bool { return e.Action == ActionNone })
	for _, e := range r.Effects {
		if e.Action != ActionNone || e.Err != nil || !slices.ContainsFunc(effects, e.sameBranch) {
			effects = append(effects, e)
		}
	}
	r.Effects = effects
	r.UserDecisions = slices.Concat(before.UserDecisions, r.UserDecisions)
	if r.Touched != nil && before.Repository != "" {
		r.Touched = before.touchedWith(r.Touched)
	}
	r.Decisions = withFalseClaims(r.Decisions, before.Decisions)
	for _, partial := range before.Errors {
		if partial.What == IncrementalPart { // no later one finds it again
			r.Errors = append(slices.Clone(r.Errors), partial)
		}
	}
	return r
}

// differs reports whether an incremental reconciliation differed from a full one.
func (r Report) differs() bool {
	return slices.ContainsFunc(r.Errors, func(e repo.PartialError) bool { return e.What == IncrementalPart })
}

// touchedWith returns the touched applications of a report and of a later one; nil: all.
func (r Report) touchedWith(later map[string]bool) map[string]bool {
	if r.Touched == nil {
		return nil
	}
	return overlay(r.Touched, later)
}

// withFalseClaims returns decisions with the false claims of earlier ones: a claim is noted
// when its history is read, which the last cycle may not need.
func withFalseClaims(decisions, earlier []promotion.Decision) []promotion.Decision {
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

// report is the report of a reconciliation that planned nothing.
func (o Observation) report() Report {
	return Report{
		Repository: o.Info.Key, Name: o.Info.Name, Config: o.Promotion.Config, Errors: o.failures.Errors, Unusable: o.Unusable,
		Problems:      o.problems,
		CommandsAt:    o.CommandsAt,
		UserDecisions: []state.State{o.Branch.Counts},
	}
}

// finalReport is the report at the end of a reconciliation.
func (o Observation) finalReport(plan Plan, effects []Effect) Report {
	report := o.report()
	report.Decisions, report.Effects = propose.Queued(plan.Decisions, plan.Proposals), effects
	observed := o.driftOf(plan.Decisions)
	report.Touched = o.Promotion.Applications
	report.Drift, report.Unfollowed, report.Refused = o.findDrift(observed), observed.Others, map[promotion.Target][]edit.Refusal{}
	for target, current := range o.Promotion.Targets {
		if len(current.Refusals) > 0 {
			report.Refused[target] = current.Refusals
		}
	}
	report.Default, report.Heads, report.Landings = o.Refs.Default, o.Heads, o.Promotion.Landings
	report.UserDecisions = append(report.UserDecisions, o.Promotion.State)
	return report
}

// driftOf returns what the drift of an observation is found in.
func (o Observation) driftOf(decisions []promotion.Decision) drift.Observed {
	return drift.Observed{Promotion: o.Promotion, Decisions: decisions, Others: o.others(), Now: o.Now}
}

// others returns, by branch, the references that no component follows where they are.
func (o Observation) others() map[string][]edit.Reference {
	others := map[string][]edit.Reference{}
	for environment, tree := range o.Trees {
		if settings, known := o.Promotion.Config.Environment(environment); known {
			others[o.Promotion.BranchOf(*settings)] = tree.Others()
		}
	}
	return others
}

// preview reports the proposals of a plan that is not carried out.
func (o Observation) preview(plan Plan) Report {
	var effects []Effect
	for _, p := range plan.Proposals {
		effects = append(effects, o.withPromotions(Effect{Proposal: p, Action: ActionNone, Err: o.skipReason(p)}))
	}
	return o.finalReport(plan, effects)
}

// withPromotions returns an effect with the ids of its promotions. A snapshot that was
// reverted and lands again is another promotion.
func (o Observation) withPromotions(e Effect) Effect {
	for _, decision := range e.Decisions {
		id := decision.Snapshot.ID()
		e.Promotions = append(e.Promotions, promotion.ID(o.Info.Key, decision.Target, id, 1+o.Attempts[decision.Target][id]))
	}
	return e
}
