package schedule

import (
	"strings"
	"time"
)

const (
	// horizon is how far State looks for the next change.
	horizon = 5 * 366 * day
	// maxSteps bounds the search within the horizon: enough for a deny and an
	// allow that fight every day of five years.
	maxSteps = 4096
)

// Windows is the windows of one gate.
type Windows []Window

// State is how a set of windows stands.
type State struct {
	Open   bool
	Reason string    // for people; names the windows that decide
	Until  time.Time // the next change: closing or opening; zero: none was found in the next five years
}

// State says whether the windows are open, why, and until when.
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

// at returns the windows that hold t.
func (ws Windows) at(t time.Time) Windows {
	var holding Windows
	for _, w := range ws {
		if _, inside := w.spans.covering(t); inside {
			holding = append(holding, w)
		}
	}
	return holding
}

// names joins the names with a verb for one or for several.
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

// covering returns the latest end of the spans that hold t; the zero time is an
// end that never comes.
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

// nextOpening goes from the end of a deny to the start of an allow until a time
// is in an allow and in no deny. The zero time: none was found.
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
// whichever comes first. The zero time: none was found.
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

// end goes from the end of a window to the end of one that takes over, until
// none does or the limit is reached.
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
