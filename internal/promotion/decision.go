// Package promotion is the vocabulary of the core of promoter: what is observed about a
// repository, what is decided about each target, and how both are written into commits. The
// decisions themselves are made by package decide.
//
// The package knows no forge, no registry client, and no file format.
package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/config"
	"promoter/internal/state"
)

// Target is one application in one environment.
type Target struct {
	Environment string
	Application string
}

// Compare orders targets by environment, then by application, both by name.
func (t Target) Compare(other Target) int {
	return cmp.Or(cmp.Compare(t.Environment, other.Environment), cmp.Compare(t.Application, other.Application))
}

// Name describes the target for users, who do not know the application of a config that
// distinguishes none.
func (t Target) Name() string {
	if t.Application == config.DefaultApplication {
		return t.Environment
	}
	return state.Target(t).String()
}

// ApplicationFlag returns the flag of the command line that selects the application, after
// a space; empty if the config distinguishes none.
func (t Target) ApplicationFlag() string {
	if t.Application == config.DefaultApplication {
		return ""
	}
	return " --app " + t.Application
}

// State is the outcome of a decision.
type State string

// The states. Same, Absent, and NoReference are three ways of having no
// difference; a child environment treats them differently. Rejected and Reverted
// last until the target is resumed or a newer version is available.
const (
	Same          State = "same"            // the files have this snapshot already
	Absent        State = "absent"          // the application has no files in this environment
	NoReference   State = "no reference"    // files, but no reference to a followed component
	Waiting       State = "waiting"         // a difference that may not be proposed yet
	Proposed      State = "proposed"        // a difference that is proposed
	Rejected      State = "rejected"        // a difference that a user rejected
	Reverted      State = "reverted"        // a difference that a user reverted
	Refused       State = "refused"         // a difference that cannot be written
	NotCheckedOut State = "not checked out" // the environment's branch is not available
	Unanswered    State = "failed"          // a registry did not answer
	Stuck         State = "stuck"           // a difference that is proposed, or should be, with an Obstacle: only in reports
)

// IsUnderway reports whether there is a difference that lands by itself, or once a user did what the reason names.
func (s State) IsUnderway() bool { return s == Waiting || s == Proposed || s == Stuck }

// Left is a move that is left out, and why.
type Left struct {
	Move   Move
	Reason Reason
}

// Refused reports whether a file cannot be written: then users have to correct it.
func (d Decision) Refused() bool {
	return d.State == Refused || slices.ContainsFunc(d.Left, func(l Left) bool { return l.Reason.Rule == RuleRefused })
}

// IsRollback reports whether a user, or a failure, returns the target to earlier versions.
func (d Decision) IsRollback() bool {
	return d.Reason.Rule == RuleRollback || d.Reason.Rule == RuleOnFailure
}

// Bypassed returns the conditions and gates that the request of the decision bypasses, each
// once.
func (d Decision) Bypassed() []Condition {
	return slices.DeleteFunc(slices.Concat(d.Conditions, d.Gates), func(c Condition) bool { return !c.Bypassed })
}

// Decision is what should happen to one target, always with the reason.
type Decision struct {
	Target
	State      State
	Reason     Reason
	Snapshot   Snapshot // what the target would hold; current versions where nothing moves
	Moves      []Move   // sorted by component; set if State is Waiting or Proposed
	Conditions []Condition
	Gates      []Condition

	// Obstacle is why it is stuck. It is set in reports: some obstacles are only known after an attempt.
	Obstacle *Obstacle

	// Newer are the moves that wait until the open pull request is merged or closed. A request for
	// exactly these versions goes ahead of it.
	Newer []Move

	// Left are components that stay behind the others, because of what is refused or on hold.
	Left []Left

	// Notes are what else is known about a target: false claims in its history and, without
	// a pending move, the hold or freeze in effect, and what an upstream environment waits
	// for. They change nothing.
	Notes []Reason

	// Health is what runs in the target; nil: it is not monitored, or not known.
	Health *Health
	// Returned is a rollback by promoter itself for which nothing is left to do.
	Returned *state.RolledBack

	// Request is the request that this decision fulfills: it names the versions, or
	// allows what is propose: manual. Nil: there is none, or for another snapshot.
	// Package record keeps it for this snapshot.
	Request *state.Request
	// Requested is the user decision that this decision carries out: a request or a rollback.
	// Nil: it is promoter's own.
	Requested *state.Act
	// ApprovedBy are the users whose approvals of the open pull request count.
	ApprovedBy []string
	// Fulfilled is a request of the target for which nothing is left to do.
	Fulfilled *state.Request

	// Urgent is set for a rollback, and for a request with versions or a bypass: it has a pull
	// request of its own, whatever the group of its environment and the limit are.
	Urgent bool

	// Ended is a request of the target whose versions can no longer come. Nil: none ended now.
	Ended *EndedRequest

	// Disposition is what becomes of the target's open pull request if nothing is
	// proposed. Nil: none is open, or it is not promoter's.
	Disposition *Disposition
	// OpenMoves are the moves of the target's open pull request, if it is kept although nothing
	// is proposed.
	OpenMoves []Move
}

// NewerCondition is the name of the condition that shows that a newer version waits.
const NewerCondition = "newer"

// NewerWaits returns the condition that shows why the moves of Newer wait; false: none do.
func (d Decision) NewerWaits() (Condition, bool) {
	i := slices.IndexFunc(d.Conditions, func(c Condition) bool { return c.Name == NewerCondition })
	if i < 0 || len(d.Newer) == 0 {
		return Condition{}, false
	}
	return d.Conditions[i], true
}

// EndedRequest is a request that ends without a promotion, and why.
type EndedRequest struct {
	Request state.Request
	Reason  Reason
}

// Disposition is what becomes of an open pull request whose target has nothing
// proposed: it is kept, or closed.
type Disposition struct {
	Close  bool
	Reason Reason
}
