package engine

import (
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/pullrequest"
	"promoter/internal/state"
)

// Report is what one pass over one repository saw and did.
type Report struct {
	Repository identity.RepositoryKey
	Name       string
	Config     *config.Config // as it is merged; nil: it could not be read
	Decisions  []promotion.Decision
	Effects    []Effect
	// Errors is what kept a part of the repository from being looked at: a
	// branch, a registry. The rest was done.
	Errors []PartialError
	// Unusable is a sentence for a repository in which nothing can be done, such as
	// an archived one; with what to do about it.
	Unusable string

	// What histories are made of: Default and Heads are the default branch and where
	// the fetched branches are at the end; Decided is what people decided, as each pass
	// read it and as the last one left it; Landings is what it knows of landings, of the
	// places of which it had to ask.
	Default       string
	Heads         map[string]string
	UserDecisions []state.State
	Landings      map[promotion.Target][]promotion.Landing
}

// PartialError is one part of a repository that failed.
type PartialError struct {
	What string // "branch env/prod", "component web"
	Err  error
}

// Action is what was done about a proposal.
type Action string

// The acts.
const (
	ActionNone      Action = "nothing"
	ActionPushed    Action = "pushed"    // a commit on the environment's branch
	ActionOpened    Action = "opened"    // a pull request
	ActionRefreshed Action = "refreshed" // its head or its words
	ActionMerged    Action = "merged"
	ActionClosed    Action = "closed"
)

// Effect is a proposal with what came of it.
type Effect struct {
	pullrequest.Proposal
	// Promotions are the ids of the promotions that it carries, by the order of its
	// decisions.
	Promotions []string
	Action     Action
	Number     int    // of the pull request
	URL        string // of it
	Commit     string // that was pushed or merged
	Err        error  // why the act failed
}

// Failed says whether any part failed.
func (r Report) Failed() bool {
	if len(r.Errors) > 0 || r.Unusable != "" {
		return true
	}
	for _, done := range r.Effects {
		if done.Err != nil {
			return true
		}
	}
	return false
}

// after is the report with what the passes before it did and read.
func (r Report) after(before Report) Report {
	r.Effects = together(before.Effects, r.Effects)
	r.UserDecisions = slices.Concat(before.UserDecisions, r.UserDecisions)
	return r
}

// together joins what was done before with what a later pass says. An effect is
// told once; of whatever else was there before, the later pass knows better.
func together(before, now []Effect) []Effect {
	all := slices.DeleteFunc(slices.Clone(before), func(d Effect) bool { return d.Action == ActionNone })
	for _, d := range now {
		told := d.Action == ActionNone && d.Err == nil && slices.ContainsFunc(all, d.sameBranch)
		if !told {
			all = append(all, d)
		}
	}
	return all
}

// sameBranch says whether both are about one pull request, or one application that
// is pushed.
func (d Effect) sameBranch(other Effect) bool {
	targets := func(a, b promotion.Decision) bool { return a.Target == b.Target }
	return d.Head == other.Head && (d.Head != "" || slices.EqualFunc(d.Decisions, other.Decisions, targets))
}
