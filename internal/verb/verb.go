// Package verb lists what a user can tell promoter to do. The command line,
// comments on pull requests, the permissions of the server file, and the history
// share these verbs.
package verb

import "strings"

// Verb is one of the verbs below.
type Verb string

// The verbs that are decisions: they change the branch promoter/_state, and a
// permission can be granted for each of them.
const (
	Promote  Verb = "promote"  // request a promotion
	Hold     Verb = "hold"     // stop promotions of a target
	Resume   Verb = "resume"   // end a hold, a rollback, and failures
	Reject   Verb = "reject"   // never propose a version again
	Unreject Verb = "unreject" // allow a version again that was rejected, closed, reverted, or moved back
	Rollback Verb = "rollback" // restore the previous versions, and hold
	Freeze   Verb = "freeze"   // stop promotions of an environment or of everything
	Thaw     Verb = "thaw"     // end a freeze
)

// ConfirmState confirms the branch promoter/_state as it is after it was deleted or moved back. It
// decides about no promotion, and only administrators may do it.
const ConfirmState Verb = "confirm-state"

// AdoptTimes lets times count that were recorded on the branch promoter/_state before its first seal. It
// decides about no promotion, and only administrators may do it.
const AdoptTimes Verb = "adopt-times"

// Administers reports whether a verb is for administrators, about the whole repository.
func Administers(v Verb) bool { return v == ConfirmState || v == AdoptTimes }

// The verbs that change nothing.
const (
	Refresh Verb = "refresh" // query the registries again
	Explain Verb = "explain" // report every condition and gate
	Help    Verb = "help"    // list the commands
)

// Decisions returns the verbs that are decisions.
func Decisions() []Verb {
	return []Verb{Promote, Hold, Resume, Reject, Unreject, Rollback, Freeze, Thaw}
}

// The conditions and gates that a promotion can bypass, by the keys of the config file, and
// a freeze. All others protect what is written, or what users decided about the target.
const (
	BypassSoak      = "soak"
	BypassHealthy   = "healthy"
	BypassChecks    = "checks" // after a parent, and of the pull request
	BypassTagged    = "tagged"
	BypassWindows   = "windows"
	BypassApprovals = "approvals"
	BypassFreeze    = "freeze"
)

// Bypassable returns them, in the order in which they are shown.
func Bypassable() []string {
	return []string{BypassSoak, BypassHealthy, BypassChecks, BypassTagged, BypassWindows, BypassApprovals, BypassFreeze}
}

// BypassableBy returns those that a decision can bypass; none: it cannot bypass anything. A rollback has no
// conditions.
func BypassableBy(v Verb) []string {
	switch v {
	case Promote:
		return Bypassable()
	case Rollback:
		return []string{BypassChecks, BypassWindows, BypassApprovals, BypassFreeze}
	default:
		return nil
	}
}

// Title returns the verb with a capital letter, as the subject of a commit begins.
func (v Verb) Title() string { return strings.ToUpper(string(v[:1])) + string(v[1:]) }
