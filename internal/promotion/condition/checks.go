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
		all = append(all, parentCondition{name: "check " + pattern, key: verb.BypassChecks, inSource: func(in *input.Target, _ *setting.Parent, t *input.Tenure, c *promotion.Condition) {
			in.Volatile()
			promotion.EvaluateChecks(c, pattern, t.Checks)
		}})
	}
	return all
}
