package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a time zone database, such as our container image
)

// Kind is the effect of a window.
type Kind string

// The kinds of windows.
const (
	Allow Kind = "allow"
	Deny  Kind = "deny"
)

// Spec configures a window: Schedule and Duration, or From and Until, of which
// one may be missing.
type Spec struct {
	Kind     Kind
	Schedule string        // five cron fields: minute, hour, day of month, month, day of week
	Duration time.Duration // of each opening, as elapsed time
	From     string        // YYYY-MM-DD, or a time of RFC 3339
	Until    string        // the same; a day is included as a whole, a time is not
	TimeZone string        // name of the IANA database; empty: UTC
}

// Window is a set of time spans that it allows or denies.
type Window struct {
	name  string
	kind  Kind
	spans spans
}

// spans is a set of time spans. Both methods are cheap at any time.
type spans interface {
	// covering returns the end of the latest span that contains t, or the zero
	// time if the span has no end.
	covering(t time.Time) (end time.Time, inside bool)
	// first returns the first start that is not before t.
	first(t time.Time) (start time.Time, found bool)
}

// NewWindow compiles a window. The name is used in the reasons of State.
func NewWindow(name string, s Spec) (Window, error) {
	if s.Kind != Allow && s.Kind != Deny {
		return Window{}, fmt.Errorf("kind %.80q is neither allow nor deny", s.Kind)
	}
	zone, err := loadZone(s.TimeZone)
	if err != nil {
		return Window{}, err
	}
	spans, err := newSpans(s, zone)
	if err != nil {
		return Window{}, err
	}
	return Window{name: name, kind: s.Kind, spans: spans}, nil
}

func newSpans(s Spec, zone *time.Location) (spans, error) {
	recurring := s.Schedule != "" || s.Duration != 0
	ranged := s.From != "" || s.Until != ""
	switch {
	case recurring && ranged:
		return nil, errors.New("a window has schedule and duration, or from and until, not both")
	case recurring:
		return newRecurring(s.Schedule, s.Duration, zone)
	case ranged:
		return newRange(s.From, s.Until, zone)
	default:
		return nil, errors.New("a window needs schedule and duration, or from and until")
	}
}

// loadZone rejects Local, because a file must have the same meaning everywhere.
func loadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "local") {
		return nil, errors.New("time zone Local depends on the machine: name a zone like Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %.80q is not known: want a name like Europe/Berlin or UTC", name)
	}
	return zone, nil
}
