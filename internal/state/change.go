package state

import (
	"strings"
	"unicode"
)

// Change is what one writer wants of the state. It is pure, and applying it twice
// is applying it once, so whoever loses the race for the branch reads it again
// and applies the same changes to what is there now.
type Change func(State) State

// at makes a change of one place.
func at(target Target, change func(*Record)) Change {
	return func(s State) State { return s.With(target, change) }
}

// maxSubject is the most runes of a commit's subject.
const maxSubject = 120

// Subject is the subject of the commit of one change: "Hold shop in prod: reason".
func Subject(verb string, target Target, why string) string {
	subject := verb + " " + target.String()
	if why = oneLine(why); why != "" {
		subject += ": " + why
	}
	if runes := []rune(subject); len(runes) > maxSubject {
		return string(runes[:maxSubject-1]) + "…"
	}
	return subject
}

// oneLine makes one line of words that came from outside.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}
