package promotion

import (
	"time"

	"promoter/internal/schedule"
)

// soak says whether a snapshot stood long enough in a source. It counts from when
// the snapshot provably landed; where health is known it counts from when it was
// healthy, so there it waits for evidence. Once a snapshot soaked it stays so when
// another takes its place.
func (p *planner) soak(a asking, stood stretch) Condition {
	c := Condition{Name: a.name("soak"), State: Pending, Value: schedule.FormatDuration(a.Soak)}
	if p.Config.Settings(a.source.Environment, a.source.Application).Health != nil {
		c.State, c.Reason = Unknown, noEvidence
		return c
	}
	if stood.at.IsZero() {
		return p.firstSeen(c, a.Soak, stood.past)
	}
	since := earlier(stood.at, p.now)
	if stood.past {
		return soakedUntil(c, since, earlier(stood.until, p.now), a.Soak)
	}
	c.Reason = "there since " + moment(since)
	if due := since.Add(a.Soak); p.now.Before(due) {
		c.Until = &due
	} else {
		c.State = Passed
	}
	return c
}

// firstSeen is the soak of a snapshot of which no time is known: what stands there
// is seen now for the first time, and is remembered from now on.
func (p *planner) firstSeen(c Condition, soak time.Duration, past bool) Condition {
	if past {
		c.Reason = "it is not known for how long it stood there"
		return c
	}
	due := p.now.UTC().Add(soak)
	c.Reason, c.Until = "first seen now", &due
	return c
}

// soakedUntil is the soak of what another snapshot replaced.
func soakedUntil(c Condition, since, until time.Time, soak time.Duration) Condition {
	c.Reason = "there from " + moment(since) + " until " + moment(until)
	if !until.IsZero() && until.Sub(since) >= soak {
		c.State = Passed
	}
	return c
}

// earlier returns the earlier time in UTC. A clock ahead of ours may tell one that
// is not yet: it counts as now.
func earlier(t, now time.Time) time.Time {
	if t.After(now) {
		t = now
	}
	return t.UTC()
}
