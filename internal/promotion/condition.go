package promotion

import (
	"cmp"
	"slices"
	"time"

	"promoter/internal/config"
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
}

// StatusContext is the context of promoter's commit status. It must not change:
// branch protection rules name it.
const StatusContext = "promoter"

const notEvaluated = "not evaluated in a checkout"

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
	return find(conditions, func(c Condition) bool { return c.Blocks(ignoreUnknown) })
}

// BlockedBy is the reason of what a condition blocks.
func BlockedBy(c Condition) Reason {
	r := Reason{Rule: RuleCondition, Message: c.Name}
	if c.Reason != "" {
		r.Message += ": " + c.Reason
	}
	if c.Until != nil {
		r.Until = *c.Until
	}
	return r
}

// parentCondition is a condition below after as one parent configures it. Exactly
// one of the functions is set; they fill in the state of the condition.
type parentCondition struct {
	name, value string
	key         string // in the config file; empty: the name
	// inSource evaluates the condition for a snapshot where a source holds or held it.
	inSource func(in *input, t tenure, c *Condition)
	// ofVersions evaluates the condition by what registries report, also in a
	// checkout.
	ofVersions func(in *input, moves []Move, c *Condition)
}

// parentConditionKinds is the table of the conditions below after. Each kind
// returns its conditions of one parent. The other conditions, which the decisions
// call directly, are settle, sameVersion, drain, mirrored, and the verification of images.
var parentConditionKinds = []func(config.Parent) []parentCondition{healthy, soak, checks, tagged}

// configuredConditions returns the conditions of a parent, in the order of the table.
func configuredConditions(parent config.Parent) []parentCondition {
	var all []parentCondition
	for _, kind := range parentConditionKinds {
		all = append(all, kind(parent)...)
	}
	return all
}

// conditionsAfter returns the conditions that a target has for one of its parents.
func conditionsAfter(in *input, parent string) []parentCondition {
	i := slices.IndexFunc(in.settings.After, func(p config.Parent) bool { return p.Environment == parent })
	if i < 0 {
		return nil
	}
	return in.after[i]
}

// parentConditions evaluates what must be met in the parents before the moves are
// proposed.
func parentConditions(in *input, moves []Move) []Condition {
	var conditions []Condition
	for _, parent := range in.settings.After {
		conditions = append(conditions, conditionsOf(in, parent, moves)...)
	}
	return conditions
}

// conditionsOf evaluates the conditions of one parent. If the application is absent
// there, they apply to the environments upstream of it.
func conditionsOf(in *input, parent config.Parent, moves []Move) []Condition {
	configured := conditionsAfter(in, parent.Environment)
	conditions := make([]Condition, 0, len(configured))
	if in.obs.Checkout {
		for _, pc := range configured {
			if pc.inSource != nil {
				conditions = append(conditions, Condition{
					Name: parent.Environment + " " + pc.name, Value: pc.value, State: Unknown, Reason: notEvaluated,
				})
			}
		}
	} else {
		for _, source := range in.obs.Sources(parent.Environment, in.target.Application) {
			t, found := tenureOf(in, source, moves)
			conditions = append(conditions, conditionsIn(in, parent, source, t, found, moves)...)
		}
	}
	for _, pc := range configured {
		if pc.ofVersions != nil {
			c := Condition{Name: parent.Environment + " " + pc.name, Value: pc.value}
			pc.ofVersions(in, moves, &c)
			in.bypass(&c, cmp.Or(pc.key, pc.name), moves)
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// conditionsIn evaluates the conditions of a parent for a tenure of a source. A
// snapshot that was never there meets none. Those that are bypassed for the moves pass.
func conditionsIn(in *input, parent config.Parent, source Target, t tenure, found bool, moves []Move) []Condition {
	configured := conditionsAfter(in, parent.Environment)
	conditions := make([]Condition, 0, len(configured))
	for _, pc := range configured {
		if pc.inSource == nil {
			continue
		}
		c := Condition{Name: parent.Environment + " " + pc.name, Value: pc.value, State: Pending}
		if parent.Environment != source.Environment {
			c.Name += " (in " + source.Environment + ")"
		}
		if found {
			pc.inSource(in, t, &c)
		} else {
			c.Reason = "not eligible in " + source.Environment + ": it was never there"
		}
		in.bypass(&c, cmp.Or(pc.key, pc.name), moves)
		conditions = append(conditions, c)
	}
	return conditions
}
