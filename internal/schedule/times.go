package schedule

import (
	"errors"
	"strings"
	"time"
)

// TimesSpec configures recurring times: after each Every, or by a Schedule.
type TimesSpec struct {
	Every    time.Duration
	Schedule string // five cron fields: minute, hour, day of month, month, day of week
	TimeZone string // name of the IANA database, with Schedule; empty: UTC
}

// Times are recurring times. The zero value never occurs.
type Times struct {
	every  time.Duration
	starts *recurring
	name   string
}

// NewTimes compiles times.
func NewTimes(s TimesSpec) (Times, error) {
	switch {
	case s.Every < 0 || s.Every > MaxDuration:
		return Times{}, errors.New("an interval is longer than nothing, and at most ten years")
	case s.Every > 0 && (s.Schedule != "" || s.TimeZone != ""):
		return Times{}, errors.New("an interval has no schedule beside it")
	case s.Every > 0:
		return Times{every: s.Every, name: "every " + FormatDuration(s.Every)}, nil
	case s.Schedule == "":
		return Times{}, errors.New("a schedule is five cron fields like \"0 6 * * 1-5\"")
	}
	zone, err := loadZone(s.TimeZone)
	if err != nil {
		return Times{}, err
	}
	starts, err := newStarts(s.Schedule, zone)
	if err != nil {
		return Times{}, err
	}
	return Times{starts: starts, name: strings.Join(strings.Fields(s.Schedule), " ") + " " + zone.String()}, nil
}

// Equal reports whether both are the same times.
func (t Times) Equal(other Times) bool { return t.name == other.name }

// IsZero reports whether there are no times.
func (t Times) IsZero() bool { return t.every == 0 && t.starts == nil }

// String returns a text that is equal exactly for equal times. ParseTimes
// parses it.
func (t Times) String() string { return t.name }

// Every returns the interval, or zero for a schedule.
func (t Times) Every() time.Duration { return t.every }

// After returns the first time after another one. A schedule uses the wall
// clock of its zone: a skipped time comes late, and a repeated time comes once.
// An hourly schedule follows elapsed time. It returns the zero time if there is
// none.
func (t Times) After(last time.Time) time.Time {
	switch {
	case t.every > 0:
		return last.Add(t.every)
	case t.starts == nil:
		return time.Time{}
	}
	start, _ := t.starts.first(last.Add(1))
	return start
}

// ParseTimes parses the result of String.
func ParseTimes(name string) (Times, error) {
	if interval, ok := strings.CutPrefix(name, "every "); ok {
		every, err := ParseDuration(interval)
		if err != nil {
			return Times{}, err
		}
		return NewTimes(TimesSpec{Every: every})
	}
	fields := strings.Fields(name)
	if len(fields) != 6 {
		return Times{}, errors.New("times are an interval, or five cron fields and a time zone")
	}
	return NewTimes(TimesSpec{Schedule: strings.Join(fields[:5], " "), TimeZone: fields[5]})
}
