// Package condition evaluates what must be met before a promotion is proposed: the conditions
// below after, and those of the versions themselves. Each condition is one file.
package condition

import (
	"cmp"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// parentCondition is a condition below after as one parent configures it. Exactly
// one of the functions is set; they fill in the state of the condition.
type parentCondition struct {
	row         input.Row
	name, value string
	key         string // in the config file; empty: the name
	// inSource evaluates the condition for a snapshot where a source holds or held it.
	inSource func(in input.Target, parent *setting.Parent, t *input.Period, c *promotion.Condition)
	// ofVersions evaluates the condition by what registries report, also in a
	// checkout.
	ofVersions func(in input.Target, parent *setting.Parent, moves []promotion.Move, c *promotion.Condition)
}

// parentConditionKinds is the table of the conditions below after. Each kind declares what its
// conditions read, and appends those of one parent.
var parentConditionKinds = []struct {
	row     input.Row
	appends func([]parentCondition, *setting.Parent) []parentCondition
}{
	{input.Row{Name: "healthy", Reads: input.Health | input.Time | input.UserDecisions}, healthy},
	{input.Row{Name: "soak", Reads: input.Health | input.Time | input.UserDecisions}, soak},
	{input.Row{Name: "checks", Reads: input.Forge}, checks},
	{input.Row{Name: "tagged", Reads: input.Registry}, tagged},
}

// The conditions that decisions evaluate directly.
const (
	ofSettle = iota
	ofSameVersion
	ofDrain
	ofStarvedSoak
	ofImage
	ofAdmission
	ofSignature
	ofMirror
)

// otherConditions is the table of the conditions that decisions evaluate directly.
var otherConditions = [...]input.Row{
	ofSettle:      {Name: "settle", Reads: input.Time | input.UserDecisions},
	ofSameVersion: {Name: "same version", Reads: input.Files},
	ofDrain:       {Name: "drain", Reads: input.UserDecisions | input.OtherTargets},
	ofStarvedSoak: {Name: "starved soak", Reads: input.Time},
	ofImage:       {Name: "image", Reads: input.Registry | input.UserDecisions},
	ofAdmission:   {Name: "admission", Reads: input.Registry | input.UserDecisions},
	ofSignature:   {Name: "signature", Reads: input.Registry},
	ofMirror:      {Name: "mirrored", Reads: input.Registry},
}

// Rows returns the rows of both tables.
func Rows() []input.Row {
	var rows []input.Row
	for _, kind := range parentConditionKinds {
		rows = append(rows, kind.row)
	}
	return append(rows, otherConditions[:]...)
}

// Has reports whether a parent has conditions: without them, it passes on at once what it has.
func Has(parent *setting.Parent) bool { return len(configuredConditions(parent)) > 0 }

// configuredConditions returns the conditions of a parent, in the order of the table.
func configuredConditions(parent *setting.Parent) []parentCondition {
	var all []parentCondition
	for _, kind := range parentConditionKinds {
		added := len(all)
		all = kind.appends(all, parent)
		for i := range all[added:] {
			all[added+i].row = kind.row
		}
	}
	return all
}

// OfParents evaluates what must be met in the parents before the moves are
// proposed.
func OfParents(in input.Target, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	for i := range in.Settings.After {
		conditions = append(conditions, ofParent(in, i, moves)...)
	}
	return conditions
}

// ofParent evaluates the conditions of one parent, by its index in Settings.After. If the application is absent
// there, they apply to the environments upstream of it, and if there are none, nothing meets them.
func ofParent(in input.Target, index int, moves []promotion.Move) []promotion.Condition {
	parent := &in.Settings.After[index]
	configured := configuredConditions(parent)
	conditions := make([]promotion.Condition, 0, len(configured))
	if in.Checkout {
		for _, pc := range configured {
			if pc.inSource != nil {
				conditions = append(conditions, promotion.Condition{
					Name: parent.Environment + " " + pc.name, Value: pc.value, State: promotion.Unknown, Reason: promotion.NotEvaluated,
				})
			}
		}
	} else {
		sources := in.Behind(index)
		if len(sources) == 0 {
			conditions = nowhere(in, parent, configured, moves)
		}
		for _, source := range sources {
			conditions = inSource(conditions, configured, in, parent, source, input.PeriodOf(in, source, moves), moves)
		}
	}
	for _, pc := range configured {
		if pc.ofVersions != nil {
			c := promotion.Condition{Name: parent.Environment + " " + pc.name, Value: pc.value}
			pc.ofVersions(in.For(pc.row), parent, moves, &c)
			input.Bypass(in, &c, cmp.Or(pc.key, pc.name), moves)
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// nowhere returns the conditions of a parent that has no files of the application, nor has any environment
// upstream of it: nothing can meet them.
func nowhere(in input.Target, parent *setting.Parent, configured []parentCondition, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	for _, pc := range configured {
		if pc.inSource != nil {
			c := promotion.Condition{
				Name: parent.Environment + " " + pc.name, Value: pc.value, State: promotion.Pending,
				Reason: in.Target.Application + " has no files there, nor in an environment upstream of it: " +
					"add them, or override after for the application",
			}
			input.Bypass(in, &c, cmp.Or(pc.key, pc.name), moves)
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// InSource evaluates the conditions of a parent for a period of a source.
func InSource(in input.Target, parent *setting.Parent, source promotion.Target, t *input.Period) []promotion.Condition {
	return inSource(nil, configuredConditions(parent), in, parent, source, t, nil)
}

// inSource appends the configured conditions of a parent for a period of a source. A
// snapshot that was never there has no period, and meets none. Those that are bypassed for the
// moves pass.
func inSource(conditions []promotion.Condition, configured []parentCondition, in input.Target, parent *setting.Parent,
	source promotion.Target, t *input.Period, moves []promotion.Move,
) []promotion.Condition {
	for _, pc := range configured {
		if pc.inSource == nil || !in.Spend(input.ConditionSteps) {
			continue
		}
		c := promotion.Condition{Name: parent.Environment + " " + pc.name, Value: pc.value, State: promotion.Pending}
		if parent.Environment != source.Environment {
			c.Name += " (in " + source.Environment + ")"
		}
		if t != nil {
			pc.inSource(in.For(pc.row), parent, t, &c)
		} else {
			c.Reason = "not eligible in " + source.Environment + ": it was never there"
		}
		input.Bypass(in, &c, cmp.Or(pc.key, pc.name), moves)
		conditions = append(conditions, c)
	}
	return conditions
}
