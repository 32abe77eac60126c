package condition

import (
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// healthy requires that the snapshot is healthy in the parent, by what the source that the
// parent names reported about it. A snapshot that was replaced there stays eligible if it was
// healthy at the end.
func healthy(all []parentCondition, parent *setting.Parent) []parentCondition {
	if !parent.Healthy {
		return all
	}
	return append(all, parentCondition{name: "healthy", inSource: func(in *input.Target, _ *setting.Parent, t *input.Tenure, c *promotion.Condition) {
		c.State, c.Reason, c.Value = promotion.Pending, "", t.Health.String()
		switch {
		case t.Monitored == nil:
			c.State, c.Reason, c.Value = promotion.Blocked, "it is not monitored there: add health to the environment", ""
		case t.Failure != nil:
			c.State, c.Reason = promotion.Failed, t.Failure.Message
		case t.Past && !t.Health.HealthySince.IsZero(), !t.Past && t.Health.IsHealthy():
			c.State, c.Reason = promotion.Passed, "healthy since "+promotion.Moment(earlier(t.Health.HealthySince, in.Now()))
		case t.Past:
			c.State, c.Reason = promotion.Failed, "it was not healthy when it was replaced"
			if t.Health.IsReported() {
				c.Reason += ": " + promotion.HealthText(t.Health)
			}
		case t.Health.IsReported():
			c.Reason = promotion.HealthText(t.Health)
		default:
			c.Reason = promotion.NotReportedYet(t.Monitored, t.HealthNote)
		}
	}})
}

// healthyFor is the soak of a parent that is monitored: it counts from when the snapshot became
// healthy, and starts again when it was degraded or missing.
func healthyFor(in *input.Target, t *input.Tenure, soak time.Duration, c *promotion.Condition) {
	since := earlier(t.Health.HealthySince, in.Now())
	switch {
	case t.Failure != nil:
		c.State, c.Reason = promotion.Failed, t.Failure.Message
	case t.Health.HealthySince.IsZero() && t.Past:
		c.State, c.Reason = promotion.Failed, "it was not healthy when it was replaced"
	case t.Health.HealthySince.IsZero() && t.Health.IsReported():
		c.Reason = promotion.HealthText(t.Health)
	case t.Health.HealthySince.IsZero():
		c.Reason = promotion.NotReportedYet(t.Monitored, t.HealthNote)
	case t.Past:
		until := earlier(t.Until, in.Now())
		c.Reason = "healthy from " + promotion.Moment(since) + " until " + promotion.Moment(until)
		if !until.IsZero() && until.Sub(since) >= soak {
			c.State = promotion.Passed
		}
	default:
		c.Reason = "healthy since " + promotion.Moment(since)
		if at := since.Add(soak); in.Now().Before(at) {
			c.Until = &at
		} else {
			c.State = promotion.Passed
		}
	}
}
