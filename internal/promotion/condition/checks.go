package condition

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/verb"
)

// checks requires that the checks of a pattern passed on the commit that brought a
// snapshot into the parent.
func checks(parent setting.Parent) []parentCondition {
	var conditions []parentCondition
	for _, pattern := range parent.Checks {
		conditions = append(conditions, parentCondition{name: "check " + pattern, key: verb.BypassChecks, inSource: func(in *input.Target, t input.Tenure, c *promotion.Condition) {
			in.Volatile()
			promotion.EvaluateChecks(c, pattern, t.Checks)
		}})
	}
	return conditions
}
