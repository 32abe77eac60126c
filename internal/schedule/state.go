package schedule

import (
	"strings"
	"time"
)

const (
	// horizon is how far ahead State searches for the next change.
	horizon = 5 * 366 * day
	// maxSteps limits the search within the horizon: enough for a deny and an
	// allow that alternate every day for five years.
	maxSteps = 4096
)

// Windows are the windows of one gate.
type Windows []Window

// State is the state of a set of windows.
type State struct {
	Open   bool
	Reason string    // for display; names the windows that decide
	Until  time.Time // the next change; zero if there is none in the next five years
}

// State reports whether the windows are open, why, and until when.
func (ws Windows) State(now time.Time) State {
	allows, denies := ws.of(Allow), ws.of(Deny)
	if denying := denies.at(now); len(denying) > 0 {
		return closed(denying.names("denies", "deny"), nextOpening(allows, denies, now))
	}
	allowing := allows.at(now)
	switch {
	case len(ws) == 0:
		return State{Open: true, Reason: "no windows are set"}
	case len(allows) > 0 && len(allowing) == 0:
		return closed("outside of "+allows.names("", ""), nextOpening(allows, denies, now))
	case len(allows) == 0:
		return State{Open: true, Reason: denies.names("does not deny now", "do not deny now"), Until: nextClosing(allows, denies, now)}
	default:
		return State{Open: true, Reason: allowing.names("allows", "allow"), Until: nextClosing(allows, denies, now)}
	}
}

func closed(reason string, opening time.Time) State {
	if opening.IsZero() {
		reason += "; no opening was found in the next five years"
	}
	return State{Reason: reason, Until: opening}
}

func (ws Windows) of(kind Kind) Windows {
	var chosen Windows
	for _, w := range ws {
		if w.kind == kind {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

// at returns the windows that contain t.
func (ws Windows) at(t time.Time) Windows {
	var holding Windows
	for _, w := range ws {
		if _, inside := w.spans.covering(t); inside {
			holding = append(holding, w)
		}
	}
	return holding
}

// names joins the names with a verb in singular or plural.
func (ws Windows) names(one, several string) string {
	names := make([]string, len(ws))
	for i, w := range ws {
		names[i] = w.name
	}
	noun, verb := "windows ", several
	if len(ws) == 1 {
		noun, verb = "window ", one
	}
	return strings.TrimSpace(noun + strings.Join(names, ", ") + " " + verb)
}

// covering returns the latest end of the spans that contain t. The zero time
// means no end.
func (ws Windows) covering(t time.Time) (end time.Time, inside bool) {
	for _, w := range ws {
		ends, holds := w.spans.covering(t)
		switch {
		case !holds:
			continue
		case ends.IsZero():
			return ends, true
		case ends.After(end):
			end = ends
		}
		inside = true
	}
	return end, inside
}

// first returns the earliest start that is not before t.
func (ws Windows) first(t time.Time) (start time.Time, found bool) {
	for _, w := range ws {
		if s, ok := w.spans.first(t); ok && (!found || s.Before(start)) {
			start, found = s, true
		}
	}
	return start, found
}

// nextOpening alternates between the end of a deny and the start of an allow
// until a time is in an allow and in no deny. It returns the zero time if there
// is none.
func nextOpening(allows, denies Windows, now time.Time) time.Time {
	t, limit := now, now.Add(horizon)
	for range maxSteps {
		if t.After(limit) {
			break
		}
		if end, denied := denies.covering(t); denied {
			if end.IsZero() {
				break
			}
			t = end
			continue
		}
		if _, allowed := allows.covering(t); allowed || len(allows) == 0 {
			return t
		}
		start, found := allows.first(t)
		if !found {
			break
		}
		t = start
	}
	return time.Time{}
}

// nextClosing returns the start of the next deny or the end of the allows,
// whichever comes first. It returns the zero time if there is none.
func nextClosing(allows, denies Windows, now time.Time) time.Time {
	limit := now.Add(horizon)
	closing := limit
	if denial, found := denies.first(now); found && denial.Before(limit) {
		closing = denial
	}
	if len(allows) > 0 {
		closing = allows.end(now, closing)
	}
	if !closing.Before(limit) {
		return time.Time{}
	}
	return closing
}

// end follows overlapping windows from end to end until none follows or the
// limit is reached.
func (ws Windows) end(t, limit time.Time) time.Time {
	for range maxSteps {
		end, inside := ws.covering(t)
		switch {
		case !inside:
			return t
		case end.IsZero() || !end.Before(limit):
			return limit
		}
		t = end
	}
	return limit
}
