// Package condition evaluates what must be met before a promotion is proposed: the conditions
// below after, and those of the versions themselves. Each condition is one file.
package condition

import (
	"cmp"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// parentCondition is a condition below after as one parent configures it. Exactly
// one of the functions is set; they fill in the state of the condition.
type parentCondition struct {
	name, value string
	key         string // in the config file; empty: the name
	// inSource evaluates the condition for a snapshot where a source holds or held it.
	inSource func(in *input.Target, t input.Tenure, c *promotion.Condition)
	// ofVersions evaluates the condition by what registries report, also in a
	// checkout.
	ofVersions func(in *input.Target, moves []promotion.Move, c *promotion.Condition)
}

// parentConditionKinds is the table of the conditions below after. Each kind
// returns its conditions of one parent. The other conditions, which the decisions
// call directly, are settle, sameVersion, drain, mirrored, and the verification of images.
var parentConditionKinds = []func(setting.Parent) []parentCondition{healthy, soak, checks, tagged}

// configuredConditions returns the conditions of a parent, in the order of the table.
func configuredConditions(parent setting.Parent) []parentCondition {
	var all []parentCondition
	for _, kind := range parentConditionKinds {
		all = append(all, kind(parent)...)
	}
	return all
}

// conditionsAfter returns the conditions that a target has for one of its parents.
func conditionsAfter(in *input.Target, parent string) []parentCondition {
	i := slices.IndexFunc(in.Settings.After, func(p setting.Parent) bool { return p.Environment == parent })
	if i < 0 {
		return nil
	}
	return configuredConditions(in.Settings.After[i])
}

// OfParents evaluates what must be met in the parents before the moves are
// proposed.
func OfParents(in *input.Target, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	for _, parent := range in.Settings.After {
		conditions = append(conditions, conditionsOf(in, parent, moves)...)
	}
	return conditions
}

// conditionsOf evaluates the conditions of one parent. If the application is absent
// there, they apply to the environments upstream of it.
func conditionsOf(in *input.Target, parent setting.Parent, moves []promotion.Move) []promotion.Condition {
	configured := conditionsAfter(in, parent.Environment)
	conditions := make([]promotion.Condition, 0, len(configured))
	if in.Obs.Checkout {
		for _, pc := range configured {
			if pc.inSource != nil {
				conditions = append(conditions, promotion.Condition{
					Name: parent.Environment + " " + pc.name, Value: pc.value, State: promotion.Unknown, Reason: promotion.NotEvaluated,
				})
			}
		}
	} else {
		for _, source := range in.Obs.Sources(parent.Environment, in.Target.Application) {
			t, found := in.TenureOf(source, moves)
			conditions = append(conditions, InSource(in, parent, source, t, found, moves)...)
		}
	}
	for _, pc := range configured {
		if pc.ofVersions != nil {
			c := promotion.Condition{Name: parent.Environment + " " + pc.name, Value: pc.value}
			pc.ofVersions(in, moves, &c)
			in.Bypass(&c, cmp.Or(pc.key, pc.name), moves)
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// InSource evaluates the conditions of a parent for a tenure of a source. A
// snapshot that was never there meets none. Those that are bypassed for the moves pass.
func InSource(in *input.Target, parent setting.Parent, source promotion.Target, t input.Tenure, found bool, moves []promotion.Move) []promotion.Condition {
	configured := conditionsAfter(in, parent.Environment)
	conditions := make([]promotion.Condition, 0, len(configured))
	for _, pc := range configured {
		if pc.inSource == nil {
			continue
		}
		c := promotion.Condition{Name: parent.Environment + " " + pc.name, Value: pc.value, State: promotion.Pending}
		if parent.Environment != source.Environment {
			c.Name += " (in " + source.Environment + ")"
		}
		if found {
			pc.inSource(in, t, &c)
		} else {
			c.Reason = "not eligible in " + source.Environment + ": it was never there"
		}
		in.Bypass(&c, cmp.Or(pc.key, pc.name), moves)
		conditions = append(conditions, c)
	}
	return conditions
}
