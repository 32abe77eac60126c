package promotion

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
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

// NoSeal describes, in parentheses, an earlier time that does not count because any user who can push can have written it,
// and how to make it count.
func NoSeal(at time.Time) string {
	return " (" + Moment(at) + " has no seal: an administrator may run 'promoter seals adopt')"
}

// StateVersion is a version as the state stores it.
func StateVersion(component string, v image.Version) state.Version {
	return state.Version{Component: component, Tag: v.Tag, Digest: v.Digest}
}

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

// AppliesText describes, after a semicolon, under which name a decision was made that applies to a target under
// another one. It is empty if the decision names the target. How it was decided is one word, such as "held".
func AppliesText(decided string, a state.Applies, at state.Target) string {
	text := "; " + decided + " as " + a.As.String()
	if a.As.Application == state.All {
		at.Application = state.All
	}
	switch {
	case a.How == state.Named:
		return ""
	case a.How == state.HasFiles && a.Gone:
		return text + "; renamed to " + at.String()
	case a.How == state.HasFiles:
		return text + ", which had these files then"
	case a.How == state.Appeared && a.Gone:
		return text + ", which is gone: what appeared since may be the same under another name"
	case a.How == state.Appeared:
		return text + ", whose files are gone: what appeared since may be the same under another name"
	default:
		return text + ", which is gone, and it is not recorded which files it had"
	}
}
