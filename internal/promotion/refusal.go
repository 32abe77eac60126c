package promotion

import (
	"cmp"
	"time"

	"promoter/internal/scm"
)

// Refusal is what a forge said against merging a head. Of much that it may ask,
// such as conversations to be resolved, nothing else tells; so a refused merge is
// not tried again before something is said on the head, or some time is over. It
// is kept in the words of promoter's own status on the head, because no other
// place belongs to the head and outlives a process.
type Refusal struct {
	Rule  string // of scm; empty: the words tell
	Words string
	At    time.Time // in whole minutes
	Until time.Time // when it is tried again
}

// name is the name of the gate.
func (r Refusal) name() string { return cmp.Or(r.Rule, mergeGate) }

// gate is the refusal as what keeps from landing. What could not be read of the
// rules may be what the forge means.
func (r Refusal) gate(hidden string) Condition {
	reason := "the forge refuses it: " + r.Words + r.advice()
	if hidden != "" {
		reason += "; " + hidden
	}
	return Condition{Name: r.name(), State: Blocked, Reason: reason, Until: &r.Until}
}

// advice says what a person can do about it.
func (r Refusal) advice() string {
	switch r.Rule {
	case scm.RuleQueue:
		return "; let promoter bypass the queue, or set land: pr and let people add the pull request to it"
	case scm.RuleSigned:
		return "; promoter signs no commits: allow a way of merging whose commit the forge signs, such as squash"
	case scm.RuleLinear:
		return "; allow squash or rebase merges"
	default:
		return ""
	}
}

// RetryDue says whether a gate is a refusal after which a new try is due.
func (c Condition) RetryDue(now time.Time) bool {
	return c.Forge && c.State == Blocked && c.Until != nil && !c.Until.After(now)
}
