package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

const (
	maxExpression = 256 // bytes of a cron expression
	// maxOpening is the longest duration of one opening. Use a range of dates
	// for longer ones.
	maxOpening = 366 * day
)

// recurring is a set of spans of one length that begin by a cron schedule.
//
// The schedule runs on a clock without a zone (a time in UTC that shows the
// wall clock), so it is unaware of clock changes. The period maps the wall
// clock to instants.
type recurring struct {
	schedule *cron.SpecSchedule
	duration time.Duration
	zone     *time.Location
	hourly   bool // begins in every hour, so it follows elapsed time
}

func newRecurring(expression string, duration time.Duration, zone *time.Location) (*recurring, error) {
	switch {
	case expression == "":
		return nil, errors.New("duration needs a schedule beside it")
	case duration <= 0:
		return nil, errors.New("schedule needs a duration beside it")
	case duration > maxOpening:
		return nil, errors.New("the duration of an opening is at most 366d: use from and until for more")
	}
	r, err := newStarts(expression, zone)
	if err != nil {
		return nil, err
	}
	r.duration = duration
	return r, nil
}

// newStarts returns the starts of spans without a length.
func newStarts(expression string, zone *time.Location) (*recurring, error) {
	schedule, err := parseCron(expression)
	if err != nil {
		return nil, err
	}
	const everyHour = 1<<24 - 1
	return &recurring{
		schedule: schedule,
		zone:     zone,
		hourly:   schedule.Hour&everyHour == everyHour,
	}, nil
}

// parseCron parses five fields. The parser would also accept a leading zone,
// which would hide the window's own.
func parseCron(expression string) (*cron.SpecSchedule, error) {
	if len(expression) > maxExpression || strings.Contains(expression, "=") {
		return nil, fmt.Errorf("schedule %.80q is not five cron fields like \"0 9 * * 1-5\"", expression)
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	parsed, err := parser.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("schedule %.80q is not five cron fields like \"0 9 * * 1-5\": %w", expression, err)
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("schedule %.80q is not five cron fields", expression)
	}
	schedule.Location = time.UTC
	// A leap day is the rarest date that a schedule can name, and 2024 has one.
	if schedule.Next(time.Date(2023, time.December, 31, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("schedule %.80q never comes: no month has that day", expression)
	}
	return schedule, nil
}

// covering finds the last start that is not after t. Most openings end before
// the next one starts, so the first start found is usually the result.
func (r *recurring) covering(t time.Time) (end time.Time, inside bool) {
	low, found := r.first(t.Add(1 - r.duration))
	if !found || low.After(t) {
		return time.Time{}, false
	}
	// Invariant: a start is in [low, t], and none in [high, t].
	for high := t.Add(1); ; {
		next, found := r.first(low.Add(1))
		if !found || next.After(t) {
			return low.Add(r.duration), true
		}
		low = next
		middle := low.Add(high.Sub(low) / 2)
		if next, found = r.first(middle); found && !next.After(t) {
			low = next
		} else {
			high = middle
		}
	}
}

// first searches the periods of the zone in order: between two clock changes
// the wall clock is continuous.
func (r *recurring) first(t time.Time) (time.Time, bool) {
	for limit := t.Add(horizon); !t.After(limit); {
		period := periodAt(t.In(r.zone))
		if start, found := r.firstIn(period, t); found {
			return start, true
		}
		if period.end.IsZero() {
			break
		}
		t = period.end
	}
	return time.Time{}, false
}

// firstIn returns the first start from t on in the period.
func (r *recurring) firstIn(p period, t time.Time) (time.Time, bool) {
	if r.hourly {
		return r.next(t, p.offset, p.end)
	}
	from := t
	if again := p.start.Add(p.repeated()); from.Before(again) {
		from = again // these starts came before the clock went back
	}
	start, found := r.next(from, p.offset, p.end)
	if p.skipped() == 0 {
		return start, found
	}
	late, isLate := r.next(t, p.before, p.start.Add(p.skipped()))
	if isLate && (!found || late.Before(start)) {
		return late, true
	}
	return start, found
}

// next returns the first time of the schedule from t on, on a wall clock with
// the offset, that is before the end. A zero end means no limit.
func (r *recurring) next(t time.Time, offset time.Duration, end time.Time) (time.Time, bool) {
	wall := r.schedule.Next(t.UTC().Add(offset - 1))
	if wall.IsZero() {
		return time.Time{}, false
	}
	start := wall.Add(-offset)
	return start, end.IsZero() || start.Before(end)
}
