package schedule

import (
	"testing"
	"time"
)

// model finds the starts of a schedule by brute force: for every minute of the
// wall clock it computes the matching instants. It does not use periods.
type model struct {
	zone    *time.Location
	offsets []time.Duration // all that occur in the days of the test
	hourly  bool
}

// instants returns the instants that match a wall-clock time, written as a time
// in UTC.
func (m model) instants(wall time.Time) []time.Time {
	var found []time.Time
	for _, offset := range m.offsets { // the offset before the change first
		at := wall.Add(-offset).In(m.zone)
		if offsetAt(at) == offset {
			found = append(found, at)
		}
	}
	switch {
	case m.hourly:
		return found
	case len(found) == 0:
		return []time.Time{wall.Add(-m.offsets[0])}
	case len(found) == 2 && found[1].Before(found[0]):
		return found[1:]
	default:
		return found[:1]
	}
}

func TestRecurring_agreesWithTheWallClock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone, from string
	}{
		{"Europe/Berlin", "2026-03-28T12:00:00Z"},
		{"Europe/Berlin", "2026-10-24T12:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-04T03:00:00Z"}, // half an hour back
		{"Australia/Lord_Howe", "2026-10-03T03:00:00Z"}, // half an hour forth
		{"America/Havana", "2026-10-31T16:00:00Z"},      // midnight comes twice
		{"Africa/Cairo", "2026-04-23T10:00:00Z"},        // midnight is skipped
		{"Pacific/Apia", "2011-12-29T20:00:00Z"},        // a whole day is skipped
		{"Africa/Casablanca", "2026-02-14T12:00:00Z"},
		{"Asia/Kathmandu", "2026-06-01T00:00:00Z"},
		{"UTC", "2026-06-01T00:00:00Z"},
	} {
		t.Run(test.zone+" "+test.from, func(t *testing.T) {
			t.Parallel()
			for _, expression := range []string{"30 2 * * *", "*/15 * * * *", "0,30 0-3 * * *", "15 */2 * * *", "45 23 * * *", "0 0 * * *", "10 1,2 * * 0"} {
				checkStarts(t, expression, test.zone, clock(t, test.from))
			}
		})
	}
}

func checkStarts(t *testing.T, expression, zone string, from time.Time) {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecurring(expression, 40*time.Minute, location)
	if err != nil {
		t.Fatal(err)
	}
	until := from.Add(36 * time.Hour)
	m := model{zone: location, hourly: r.hourly, offsets: []time.Duration{offsetAt(from.In(location))}}
	if last := offsetAt(until.In(location)); last != m.offsets[0] {
		m.offsets = append(m.offsets, last)
	}
	starts := make(map[time.Time]bool)
	for wall := from.Add(-30 * time.Hour).Truncate(time.Hour); wall.Before(until.Add(30 * time.Hour)); wall = wall.Add(time.Minute) {
		if !r.schedule.Next(wall.Add(-1)).Equal(wall) {
			continue
		}
		for _, at := range m.instants(wall) {
			starts[at.UTC()] = true
		}
	}
	for at := from; at.Before(until); at = at.Add(5 * time.Minute) {
		var want, end time.Time
		for start := range starts {
			if !start.Before(at) && (want.IsZero() || start.Before(want)) {
				want = start
			}
			if ends := start.Add(r.duration); !start.After(at) && ends.After(at) && ends.After(end) {
				end = ends
			}
		}
		if got, _ := r.first(at); !want.IsZero() && !got.Equal(want) {
			t.Fatalf("%s: the first start from %v on is %v, want %v", expression, at.In(location), got.In(location), want.In(location))
		}
		if got, inside := r.covering(at); inside != !end.IsZero() || !got.Equal(end) {
			t.Fatalf("%s: at %v the end is %v, want %v", expression, at.In(location), got.In(location), end.In(location))
		}
	}
}
