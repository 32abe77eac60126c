package promotion

import (
	"fmt"
	"time"

	"promoter/internal/glob"
	"promoter/internal/health"
)

// Check is what one status or check run reported about a commit.
type Check struct {
	Name  string
	State ConditionState
	At    time.Time
	// Sources are the results by the app that reported them, see scm.Check.
	Sources map[string]ConditionState
}

// EvaluateChecks requires that all checks of a pattern passed. If there is none,
// the system that runs them may not have started yet. Promoter's own status does
// not count, because a promotion would wait for itself, and neither do those that mirror health.
func EvaluateChecks(c *Condition, pattern string, checks []Check) {
	c.State, c.Reason = Pending, notReported
	passed, all := 0, 0
	var failed, running string
	for _, check := range checks {
		if check.Name == StatusContext || health.IsContext(check.Name) || !glob.MatchName(pattern, check.Name) {
			continue
		}
		all++
		switch check.State {
		case Passed:
			passed++
		case Failed:
			failed = firstName(failed, check.Name)
		default:
			running = firstName(running, check.Name)
		}
	}
	switch {
	case failed != "":
		c.State, c.Reason = Failed, failed+" failed"
	case running != "":
		c.Reason = running + " has not finished"
	case all > 0:
		c.State, c.Reason = Passed, ""
	}
	if all > 1 {
		c.Value = fmt.Sprintf("%d of %d passed", passed, all)
	}
}

// firstName returns the name that sorts first, so that the order in which a forge
// lists checks does not change the message.
func firstName(a, b string) string {
	if a == "" {
		return b
	}
	return min(a, b)
}
