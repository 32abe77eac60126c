package promotion

import (
	"cmp"
	"time"

	"promoter/internal/image"
	"promoter/internal/state"
)

// Target is one application in one environment: what a decision is about.
type Target struct {
	Environment string
	Application string
}

// Compare orders places by environment, then by application, both by name.
func (p Target) Compare(other Target) int {
	return cmp.Or(cmp.Compare(p.Environment, other.Environment), cmp.Compare(p.Application, other.Application))
}

// State is what a decision says about a place.
type State string

// The closed set of states. Same, Absent and NoReference are the three ways of
// having no difference; they need telling apart because a child treats them
// differently. Rejected and Reverted are people's answers: they stand until the
// place is resumed or a newer version is there.
const (
	Same          State = "same"            // the references are there and say this snapshot already
	Absent        State = "absent"          // the application has no files in this environment
	NoReference   State = "no reference"    // files, but no reference to a followed component
	Waiting       State = "waiting"         // a difference that may not be proposed yet
	Proposed      State = "proposed"        // a difference that is proposed
	Rejected      State = "rejected"        // a difference that a person refused
	Reverted      State = "reverted"        // a difference that was here and that a person took back
	Refused       State = "refused"         // a difference that cannot be written
	NotCheckedOut State = "not checked out" // the environment's branch is not at hand
	Unanswered    State = "failed"          // a registry did not answer
)

// Rule names why a decision is as it is, for code that reads decisions.
type Rule string

// The rules.
const (
	RuleNewer         Rule = "newer"          // a newer version is there
	RuleParent        Rule = "parent"         // the parent environment has another version
	RuleGiven         Rule = "given"          // a person named the version
	RuleSame          Rule = "same"           // nothing differs
	RuleAbsent        Rule = "absent"         // no files here
	RuleNoReference   Rule = "no-reference"   // files without a reference
	RuleBackwards     Rule = "backwards"      // it would move a component back
	RuleParentsDiffer Rule = "parents-differ" // the parents do not agree
	RuleSameVersion   Rule = "same-version"   // the components' versions are not one
	RuleCondition     Rule = "condition"      // a condition blocks
	RulePropose       Rule = "propose"        // nobody asked, or nobody may
	RuleDigestUnknown Rule = "digest-unknown" // nothing says which digest a tag was
	RuleNoVersion     Rule = "no-version"     // the registry has nothing to take
	RuleRegistry      Rule = "registry"       // the registry gave no answer
	RuleRefused       Rule = "refused"        // a file cannot be written
	RuleBranch        Rule = "branch"         // the branch is not at hand
	RuleHeld          Rule = "held"           // a person holds the place
	RuleFrozen        Rule = "frozen"         // a person froze the environment or the repository
	RuleRejected      Rule = "rejected"       // a person rejected a version that it would bring
	RuleReverted      Rule = "reverted"       // a person took back a version that it would bring
	RuleRollback      Rule = "rollback"       // a person wants the versions of before
	RuleLimit         Rule = "limit"          // as many pull requests as may be are open
	RuleForge         Rule = "forge"          // plain Git has no pull requests
	RuleForeign       Rule = "foreign"        // a person works on our branch
	RuleGate          Rule = "gate"           // a gate keeps it from landing
	RuleGone          Rule = "gone"           // the place is no more, or lands another way
)

// Reason says why a decision is as it is: the rule for code, the words for
// people, and the time at which it may change by itself where one is known.
type Reason struct {
	Rule    Rule
	Message string
	Until   time.Time
}

// String returns the words.
func (r Reason) String() string { return r.Message }

// Move is one component of a decision that changes its version.
type Move struct {
	Component string
	From      image.Version // what the files say now; the zero version when they disagree
	To        image.Version
}

// Decision is what the engine wants for one place, always with its reason.
type Decision struct {
	Target
	State      State
	Reason     Reason
	Snapshot   Snapshot // what the place would hold; present versions where nothing moves
	Moves      []Move   // sorted by component; set when State is Waiting or Proposed
	Conditions []Condition
	Gates      []Condition

	// Request is the request that this decision answers: it names the versions, or
	// lets what is propose: manual go on. Nil: nobody asked, or for another
	// snapshot. What becomes of it in the state is among Unrecorded.
	Request *state.Request
	// Fulfilled is a request of the place with which nothing is left to do: what
	// it asked for stands here, or did.
	Fulfilled *state.Request

	// Disposition is what becomes of the target's open pull request if nothing is
	// proposed. Nil: none is open, or it is not promoter's.
	Disposition *Disposition
	// OpenMoves are the moves of the target's open pull request if the registry did
	// not answer.
	OpenMoves []Move
}

// Wanted returns the version that the decision wants for a component of its
// place; false when the component stays as it is.
func (d Decision) Wanted(component string) (image.Version, bool) {
	for _, move := range d.Moves {
		if move.Component == component {
			return move.To, true
		}
	}
	return image.Version{}, false
}
