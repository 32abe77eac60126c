package promotion

import (
	"time"

	"promoter/internal/config"
	"promoter/internal/schedule"
)

// soak requires that a snapshot was in the parent for some time. The time counts from
// when it provably landed or, where the parent is monitored, became healthy. A snapshot that
// soaked once stays eligible after it is replaced.
func soak(parent config.Parent) []parentCondition {
	if parent.Soak == 0 {
		return nil
	}
	return []parentCondition{{name: "soak", value: schedule.FormatDuration(parent.Soak), inSource: func(in *input, t tenure, c *Condition) {
		due := func(since time.Time) {
			if at := since.Add(parent.Soak); in.now.Before(at) {
				c.Until = &at
			} else {
				c.State = Passed
			}
		}
		if t.monitored != nil {
			healthyFor(in, t, parent.Soak, c)
			return
		}
		since := earlier(t.since, in.now)
		switch {
		case t.since.IsZero() && t.past:
			c.Reason = "unknown how long it was there"
		case t.since.IsZero():
			// It is seen now for the first time. Package record saves the time.
			c.Reason = "first seen now"
			due(in.now.UTC())
		case t.past:
			until := earlier(t.until, in.now)
			c.Reason = "present from " + moment(since) + " until " + moment(until)
			if !until.IsZero() && until.Sub(since) >= parent.Soak {
				c.State = Passed
			}
		default:
			c.Reason = "present since " + moment(since)
			due(since)
		}
	}}}
}

// earlier returns the earlier time in UTC. A time in the future, from a clock that
// is ahead, counts as now.
func earlier(t, now time.Time) time.Time {
	if t.After(now) {
		t = now
	}
	return t.UTC()
}
