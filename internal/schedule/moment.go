package schedule

import (
	"fmt"
	"strings"
	"time"
)

// The layouts of a time of day.
const (
	minutes = "15:04"
	seconds = "15:04:05"
)

// ParseMoment reads a time in the future as users write it, in the time zone of now: a
// weekday, a date, or neither, with or without a time of day, as in "Sat 15:00", "15:00",
// "2026-12-24", or "2026-12-24 18:00"; a time of RFC 3339; or a duration from now as in "+36h".
// A weekday or a time of day is the next one after now, and a day begins at 0:00.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if wait, err := ParseDuration(strings.TrimPrefix(text, "+")); err == nil {
		return now.Add(wait), nil
	}
	day, clock, _ := strings.Cut(strings.Replace(text, "T", " ", min(strings.Count(text, "-")/2, 1)), " ")
	if clock == "" && strings.Contains(day, ":") {
		day, clock = "", day
	}
	hour, err := time.Parse(minutes, strings.TrimSpace(clock))
	if err != nil {
		hour, err = time.Parse(seconds, strings.TrimSpace(clock))
	}
	if err != nil && clock != "" {
		return time.Time{}, notMoment(text)
	}
	at := func(year int, month time.Month, dayOfMonth int) time.Time {
		return time.Date(year, month, dayOfMonth, hour.Hour(), hour.Minute(), hour.Second(), 0, now.Location())
	}
	if date, err := time.Parse(time.DateOnly, day); err == nil {
		return at(date.Date()), nil
	}
	weekday, named := weekdayOf(day)
	if !named && day != "" || day == "" && clock == "" {
		return time.Time{}, notMoment(text)
	}
	for ahead := range 9 {
		next := at(now.Year(), now.Month(), now.Day()+ahead)
		if next.After(now) && (!named || next.Weekday() == weekday) {
			return next, nil
		}
	}
	return time.Time{}, notMoment(text)
}

func notMoment(text string) error {
	return fmt.Errorf("%.80q is not a time like \"Sat 15:00\", 2026-12-24, \"2026-12-24 18:00\", or +36h", text)
}

// weekdayOf reads the English name of a weekday, or its first three letters.
func weekdayOf(text string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); strings.EqualFold(text, name) || strings.EqualFold(text, name[:3]) {
			return day, true
		}
	}
	return 0, false
}

// ParseEnd reads when something ends, as ParseMoment does, in UTC and whole seconds. The empty
// text has no end.
func ParseEnd(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no end is no error
	}
	at, err := ParseMoment(text, now.UTC())
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Second)
	if !at.After(now) {
		return nil, fmt.Errorf("%s is past", at.Format(time.RFC3339))
	}
	return &at, nil
}
