package condition

import (
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/schedule"
)

// soak requires that a snapshot was in the parent for some time. The time counts from
// when it provably landed or, where the parent is monitored, became healthy. A snapshot that
// soaked once stays eligible after it is replaced.
func soak(all []parentCondition, parent *setting.Parent) []parentCondition {
	if parent.Soak == 0 {
		return all
	}
	return append(all, parentCondition{name: "soak", value: schedule.FormatDuration(parent.Soak), inSource: soaked})
}

func soaked(in input.Target, parent *setting.Parent, t *input.Period, c *promotion.Condition) {
	if t.Monitored != nil {
		healthyFor(in, t, parent.Soak, c)
		return
	}
	since := earlier(t.Since, in.Now())
	switch {
	case t.Since.IsZero() && t.Past:
		c.Reason = "unknown how long it was there"
	case t.Since.IsZero():
		// It is seen now for the first time. Package record saves the time.
		c.Reason = "first seen now" + again(t) + unsealed(in, t)
		passAt(c, in.Now().UTC().Add(parent.Soak), in.Now())
	case t.Past:
		until := earlier(t.Until, in.Now())
		c.State, c.Reason = promotion.Failed, "present from "+promotion.Moment(since)+" until "+promotion.Moment(until)
		if !until.IsZero() && until.Sub(since) >= parent.Soak {
			c.State = promotion.Passed
		}
	default:
		c.Reason = "present since " + promotion.Moment(since) + again(t) + unsealed(in, t)
		passAt(c, since.Add(parent.Soak), in.Now())
	}
}

// again marks a version that was there before: only the time since it came back counts.
func again(t *input.Period) string {
	if t.Again {
		return ", again"
	}
	return ""
}

// unsealed marks a version that was there before the first seal, according to a time that anyone who can push can have
// written.
func unsealed(in input.Target, t *input.Period) string {
	at, found := input.Unsealed(in, t)
	if !found || !t.Since.IsZero() && !at.Before(t.Since) {
		return ""
	}
	return promotion.NoSeal(at)
}

// passAt passes a condition at a time, and shows that time until then.
func passAt(c *promotion.Condition, at, now time.Time) {
	if now.Before(at) {
		c.Until = &at
	} else {
		c.State = promotion.Passed
	}
}

// earlier returns the earlier time in UTC. A time in the future, from a clock that
// is ahead, counts as now.
func earlier(t, now time.Time) time.Time {
	if t.After(now) {
		t = now
	}
	return t.UTC()
}
