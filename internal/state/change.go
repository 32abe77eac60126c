package state

import (
	"strings"
	"unicode"
)

// Change is a change to the state. It is pure and idempotent: on a push
// conflict, the writer reads the branch again and applies the same changes to
// the new state.
type Change func(State) State

// at returns a change to one target.
func at(target Target, change func(*Record)) Change {
	return func(s State) State { return s.With(target, change) }
}

// maxSubject limits a commit subject, in runes.
const maxSubject = 120

// Subject returns the commit subject for one change: "Hold shop in prod:
// reason".
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

// oneLine puts untrusted text on one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}
