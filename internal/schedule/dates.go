package schedule

import (
	"errors"
	"fmt"
	"time"
)

// dates is one span of time. A zero time means no bound.
type dates struct{ from, until time.Time }

func newRange(from, until string, zone *time.Location) (dates, error) {
	start, err := parseBound("from", from, zone, 0)
	if err != nil {
		return dates{}, err
	}
	end, err := parseBound("until", until, zone, 1)
	if err != nil {
		return dates{}, err
	}
	if !start.IsZero() && !end.IsZero() && !start.Before(end) {
		return dates{}, errors.New("until is before from")
	}
	return dates{from: start, until: end}, nil
}

// parseBound parses a day or a time. A day means its first instant or, with
// days, the first instant that many days later.
func parseBound(key, s string, zone *time.Location, days int) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if date, err := time.Parse(time.DateOnly, s); err == nil {
		return startOfDay(date.AddDate(0, 0, days), zone), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %.80q is not a day like 2026-12-21 or a time like 2026-12-21T18:00:00+01:00", key, s)
	}
	return t, nil
}

func (d dates) covering(t time.Time) (end time.Time, inside bool) {
	return d.until, !t.Before(d.from) && (d.until.IsZero() || t.Before(d.until))
}

func (d dates) first(t time.Time) (start time.Time, found bool) {
	return d.from, !d.from.IsZero() && !d.from.Before(t)
}
