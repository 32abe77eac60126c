package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones on machines without a database, such as our container image
)

// Kind says what a window does.
type Kind string

// The kinds of windows.
const (
	Allow Kind = "allow"
	Deny  Kind = "deny"
)

// Spec is a window as the config file says it: Schedule and Duration, or From
// and Until, of which one may be missing.
type Spec struct {
	Kind     Kind
	Schedule string        // five cron fields: minute, hour, day of month, month, day of week
	Duration time.Duration // of each opening, as elapsed time
	From     string        // YYYY-MM-DD, or a time of RFC 3339
	Until    string        // the same; a day is inside as a whole, a time is not
	TimeZone string        // name of the IANA database; empty: UTC
}

// Window is a set of spans of time that it allows or denies.
type Window struct {
	name  string
	kind  Kind
	spans spans
}

// spans is a set of spans of time. Both answers are cheap at any time.
type spans interface {
	// covering returns the end of the latest span that holds t; the zero time
	// when it has none.
	covering(t time.Time) (end time.Time, inside bool)
	// first returns the first start that is not before t.
	first(t time.Time) (start time.Time, found bool)
}

// NewWindow compiles a window. The name is for the reasons of State.
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

// loadZone refuses Local, because the same file must mean the same everywhere.
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

// Name returns the window's name.
func (w Window) Name() string { return w.name }
