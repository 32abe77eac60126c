package promotion

import "time"

// ConditionState is how a condition or gate stands.
type ConditionState string

// The closed set of condition states. Unknown blocks like Waiting wherever a
// promotion is carried out; only a checkout, where nothing is carried out, shows
// it and goes on. Blocked is what no waiting helps with: a person has to change a
// setting.
const (
	Passed  ConditionState = "passed"
	Pending ConditionState = "waiting"
	Failed  ConditionState = "failed"
	Blocked ConditionState = "blocked"
	Unknown ConditionState = "unknown"
)

// Condition is one thing that must hold. Under after it decides proposing; as a
// gate it decides landing. The same value is printed by the command line, the
// pull request and the pages.
type Condition struct {
	Name   string         `json:"name"` // as in the config file, with the parent before it: "staging healthy"
	State  ConditionState `json:"state"`
	Reason string         `json:"reason,omitempty"`
	Value  string         `json:"value,omitempty"` // the present value, where there is one
	Until  *time.Time     `json:"until,omitempty"` // when the state changes by itself, where that is known
	Forge  bool           `json:"forge,omitempty"` // a gate that the forge asks by itself, not the config
}

// Blocks says whether the condition keeps a promotion from going on. A checkout
// has no forge to ask, so there what is unknown is named and does not block.
func (c Condition) Blocks(checkout bool) bool {
	switch c.State {
	case Passed:
		return false
	case Unknown:
		return !checkout
	default:
		return true
	}
}

// FirstBlocking returns the first condition that blocks.
func FirstBlocking(conditions []Condition, checkout bool) (Condition, bool) {
	for _, c := range conditions {
		if c.Blocks(checkout) {
			return c, true
		}
	}
	return Condition{}, false
}

// StatusContext is the context of promoter's one commit status. It must not
// change: branch protection names it.
const StatusContext = "promoter"
