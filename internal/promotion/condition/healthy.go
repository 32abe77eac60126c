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
	return append(all, parentCondition{name: "healthy", inSource: isHealthy})
}

func isHealthy(in input.Target, _ *setting.Parent, t *input.Period, c *promotion.Condition) {
	if t.Monitored == nil {
		c.State, c.Reason = promotion.Blocked, "it is not monitored there: add health to the environment"
		return
	}
	reported, note := input.Reported(in, t)
	c.Value = reported.String()
	failure := input.Failure(in, t)
	switch {
	case failure != nil:
		c.State, c.Reason = promotion.Failed, failure.Message
	case t.Past && !reported.HealthySince.IsZero(), !t.Past && reported.IsHealthy():
		c.State, c.Reason = promotion.Passed, "healthy since "+promotion.Moment(earlier(reported.HealthySince, in.Now()))
	case t.Past:
		c.State, c.Reason = promotion.Failed, "it was not healthy when it was replaced"
		if reported.IsReported() {
			c.Reason += ": " + promotion.HealthText(reported)
		}
	case reported.IsReported():
		c.Reason = promotion.HealthText(reported)
	default:
		c.Reason = promotion.NotReportedYet(t.Monitored, note)
	}
}

// sinceAgain returns since when a version is there again; now, if it is seen for the first time.
func sinceAgain(in input.Target, t *input.Period) time.Time {
	if t.Since.IsZero() {
		return in.Now().UTC()
	}
	return t.Since.UTC()
}

// later returns the later time.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// healthyFor is the soak of a parent that is monitored: it counts from when the snapshot became
// healthy, and starts again when it was degraded or missing.
func healthyFor(in input.Target, t *input.Period, soak time.Duration, c *promotion.Condition) {
	reported, note := input.Reported(in, t)
	since := earlier(reported.HealthySince, in.Now())
	failure := input.Failure(in, t)
	switch {
	case failure != nil:
		c.State, c.Reason = promotion.Failed, failure.Message
	case reported.HealthySince.IsZero() && t.Past:
		c.State, c.Reason = promotion.Failed, "it was not healthy when it was replaced"
	case reported.HealthySince.IsZero() && reported.IsReported():
		c.Reason = promotion.HealthText(reported)
	case reported.HealthySince.IsZero():
		c.Reason = promotion.NotReportedYet(t.Monitored, note)
	case t.Past:
		until := earlier(t.Until, in.Now())
		c.State, c.Reason = promotion.Failed, "healthy from "+promotion.Moment(since)+" until "+promotion.Moment(until)
		if !until.IsZero() && until.Sub(since) >= soak {
			c.State = promotion.Passed
		}
	default:
		if t.Again { // its health of before may be known by the same commit
			since = later(since, sinceAgain(in, t))
		}
		c.Reason = "healthy since " + promotion.Moment(since) + again(t)
		passAt(c, since.Add(soak), in.Now())
	}
}
