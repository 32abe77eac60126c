package promotion

import (
	"time"
)

// ConditionState is the state of a condition or gate.
type ConditionState string

// The states. Unknown blocks like Pending, except in an environment that the user of a
// checkout named. Blocked does not pass by waiting: a user has to change a setting.
const (
	Passed  ConditionState = "passed"
	Pending ConditionState = "waiting"
	Failed  ConditionState = "failed"
	Blocked ConditionState = "blocked"
	Unknown ConditionState = "unknown"
)

// Condition is something that must be met: a condition of after before a promotion
// is proposed, a gate before it lands. The command line, pull requests, and the
// API show the same value.
type Condition struct {
	Name   string         `json:"name"` // as in the config file, with the parent before it: "staging soak"
	State  ConditionState `json:"state"`
	Reason string         `json:"reason,omitempty"`
	Value  string         `json:"value,omitempty"` // the current value if there is one
	Until  *time.Time     `json:"until,omitempty"` // when the state changes by itself, if known
	Forge  bool           `json:"forge,omitempty"` // a gate of the forge, not of the config
	// Bypassed is set if it is passed only because a user with the permission bypasses it.
	Bypassed bool `json:"bypassed,omitempty"`
	// Obstacle is set if no time and no review ends it.
	Obstacle *Obstacle `json:"obstacle,omitempty"`
	// Overdue is when it becomes an obstacle if nothing is reported.
	Overdue time.Time `json:"-"`
}

// StatusContext is the context of promoter's commit status. It must not change:
// branch protection rules name it.
const StatusContext = "promoter"

// NotEvaluated is the reason of what only a forge or the history of landings shows.
const NotEvaluated = "not evaluated in a checkout"

// Blocks reports whether the condition blocks a promotion, where unknown ones may be
// ignored.
func (c Condition) Blocks(ignoreUnknown bool) bool {
	switch c.State {
	case Passed:
		return false
	case Unknown:
		return !ignoreUnknown
	default:
		return true
	}
}

// FirstBlocking returns the first condition that blocks.
func FirstBlocking(conditions []Condition, ignoreUnknown bool) (Condition, bool) {
	for _, c := range conditions {
		if c.Blocks(ignoreUnknown) {
			return c, true
		}
	}
	return Condition{}, false
}

// RetryDue reports whether a gate is a refused merge that should be tried again.
func (c Condition) RetryDue(now time.Time) bool {
	return c.Forge && c.State == Blocked && c.Until != nil && !c.Until.After(now)
}
