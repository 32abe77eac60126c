package schedule

import "time"

// period is the time between two clock changes of a zone.
type period struct {
	start, end time.Time     // zero if there is no change on that side
	offset     time.Duration // of the wall clock from UTC
	before     time.Duration // the offset before start
}

// periodAt returns the period that contains t, in the zone of t.
func periodAt(t time.Time) period {
	var p period
	p.start, p.end = t.ZoneBounds()
	p.offset = offsetAt(t)
	p.before = p.offset
	if !p.start.IsZero() {
		p.before = offsetAt(p.start.Add(-1))
	}
	return p
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// skipped returns how much of the wall clock was skipped at the start.
func (p period) skipped() time.Duration { return max(0, p.offset-p.before) }

// repeated returns how much of the wall clock is repeated at the start.
func (p period) repeated() time.Duration { return max(0, p.before-p.offset) }

// startOfDay returns the first instant of a day, which in some zones is not at
// midnight. The day is given as its midnight in UTC.
func startOfDay(date time.Time, zone *time.Location) time.Time {
	year, month, dayOfMonth := date.Date()
	t := time.Date(year, month, dayOfMonth, 0, 0, 0, 0, zone)
	wall := t.UTC().Add(offsetAt(t))
	p := periodAt(t)
	switch {
	case wall.After(date):
		return p.start
	case wall.Before(date):
		return p.end
	}
	if first := date.Add(-p.before); first.Before(p.start) {
		return first.In(zone)
	}
	return t
}
