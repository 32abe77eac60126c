package promotion

import (
	"cmp"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
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
)

// Rule identifies why a decision is as it is, for code that reads decisions.
type Rule string

// The rules.
const (
	RuleNewer         Rule = "newer"          // a newer version is available
	RuleParent        Rule = "parent"         // the parent environment has another version
	RuleForm          Rule = "form"           // the version is there, and must be written in another form
	RuleRequested     Rule = "requested"      // a user requested the version
	RuleSame          Rule = "same"           // nothing differs
	RuleAbsent        Rule = "absent"         // no files
	RuleNoReference   Rule = "no-reference"   // files without a reference
	RuleBackwards     Rule = "backwards"      // it would move a component back
	RuleParentsDiffer Rule = "parents-differ" // the parents have different versions
	RuleSameVersion   Rule = "same-version"   // the components have different versions
	RuleCondition     Rule = "condition"      // a condition blocks
	RulePropose       Rule = "propose"        // the propose mode requires a request, or forbids it
	RuleDigestUnknown Rule = "digest-unknown" // the digest behind a tag is unknown
	RuleNoVersion     Rule = "no-version"     // the registry has no version to select
	RuleRegistry      Rule = "registry"       // the registry did not answer
	RuleRefused       Rule = "refused"        // a file cannot be written
	RuleBranch        Rule = "branch"         // the branch is not available
	RuleHeld          Rule = "held"           // a user put the target on hold
	RuleFrozen        Rule = "frozen"         // a user froze the environment or the repository
	RuleRejected      Rule = "rejected"       // a user rejected a version of it
	RuleReverted      Rule = "reverted"       // a user reverted a version of it
	RuleRollback      Rule = "rollback"       // a user requested the previous versions
	RuleLimit         Rule = "limit"          // the limit of open pull requests is reached
	RuleForge         Rule = "forge"          // the repository has no pull requests
	RuleForeign       Rule = "foreign"        // a user works on promoter's branch
	RuleGate          Rule = "gate"           // a gate blocks
	RuleFalseClaim    Rule = "false-claim"    // files contradict the trailers of a commit
	RuleHealth        Rule = "health"         // what runs, beside what the files have
	RuleFailed        Rule = "failed"         // what landed is not healthy
	RuleOnFailure     Rule = "on-failure"     // what landed failed: the environment returns to the versions of before
	RuleGone          Rule = "gone"           // the target no longer exists, or lands another way
)

// Reason is why a decision is as it is: the rule for code, the message for users,
// and the time at which it may change by itself if that is known.
type Reason struct {
	Rule    Rule
	Message string
	Until   time.Time
	Scope   state.Target // of a hold or freeze: the target whose record has it
}

// String returns the message.
func (r Reason) String() string { return r.Message }

// Move is one component that changes its version.
type Move struct {
	Component string
	From      image.Version // in the files; the zero version if they disagree
	To        image.Version
	Form      Form // of a move to the version that is there; empty: it is another version
}

// String describes the move as "web 1.4 -> 1.5"; two digests of one tag are
// shown as digests.
func (m Move) String() string {
	from, to := Label(m.From), Label(m.To)
	switch m.Form {
	case FormRelabeled:
		return m.Component + " " + from + " -> " + to + " (same digest)"
	case FormPinned:
		return "pin " + m.Component + " " + to + " to its digest"
	case FormUnpinned:
		return "write " + m.Component + " " + to + " without its digest"
	case FormTagged:
		return "write " + m.Component + " " + to + " with its tag"
	case FormUntagged:
		return "write " + m.Component + " " + to + " without its tag"
	}
	if from == to {
		from, to = ShortDigest(m.From.Digest), ShortDigest(m.To.Digest)
	}
	if from == "" {
		return m.Component + " -> " + to
	}
	return m.Component + " " + from + " -> " + to
}

// MoveOf returns the move of a component.
func MoveOf(moves []Move, component string) (Move, bool) {
	return find(moves, func(m Move) bool { return m.Component == component })
}

func find[T any](all []T, fits func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i], true
	}
	return found, false
}

func sameMoves(a, b []Move) bool {
	return slices.EqualFunc(a, b, func(a, b Move) bool {
		return a.Component == b.Component && a.Form == b.Form && SameRollout(a.To, b.To)
	})
}

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

	// Disposition is what becomes of the target's open pull request if nothing is
	// proposed. Nil: none is open, or it is not promoter's.
	Disposition *Disposition
	// OpenMoves are the moves of the target's open pull request if a registry did
	// not answer.
	OpenMoves []Move
}
