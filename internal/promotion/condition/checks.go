package condition

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

// checks requires that the checks of a pattern passed on the commit that brought a
// snapshot into the parent.
func checks(all []parentCondition, parent *setting.Parent) []parentCondition {
	for _, pattern := range parent.Checks {
		evaluate := func(in input.Target, _ *setting.Parent, t *input.Period, c *promotion.Condition) {
			promotion.EvaluateChecks(c, pattern, input.Checks(in, t))
		}
		all = append(all, parentCondition{name: "check " + pattern, key: verb.BypassChecks, inSource: evaluate})
	}
	return all
}
