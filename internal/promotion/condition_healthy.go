package promotion

import "promoter/internal/config"

// healthy requires that a snapshot is healthy in the parent. It blocks as long as
// health is unknown.
func healthy(parent config.Parent) []parentCondition {
	if !parent.Healthy {
		return nil
	}
	return []parentCondition{{name: "healthy", inSource: func(_ *input, _ Target, _ tenure, c *Condition) {
		c.State, c.Reason = Unknown, noEvidence
	}}}
}
