package promotion

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/state"
)

// Actor names the user of a decision.
func Actor(act state.Act) string {
	if act.By.Login == "" {
		return "an unknown user"
	}
	return act.By.Login
}

// Because returns the reason that the user gave, after a colon; empty if there is none.
func Because(act state.Act) string {
	if act.Reason == "" {
		return ""
	}
	return ": " + act.Reason
}

// Day formats a time of which the day is enough.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Moment formats a time.
func Moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// SortedNames lists names, each once.
func SortedNames(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// Appended returns two texts, either of which may be empty, as one.
func Appended(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "; " + more
}
