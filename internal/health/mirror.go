package health

import (
	"regexp"
	"strings"
	"time"
)

// The health of a landed commit is mirrored as a commit status of promoter's own account, so
// that a reconciliation without a database knows it.

// contextPrefix begins the context of the mirrored status. It must not change: later releases
// read the statuses of earlier ones.
const contextPrefix = "promoter/health/"

// Key identifies the state of one landed snapshot.
type Key struct {
	Commit  string // that brought the snapshot, in hex
	Context string // of the target, see Context
}

// Context returns the context of the commit status that mirrors the health in an environment.
// An application is part of it where the config distinguishes applications.
func Context(environment, application string) string {
	if application == "" {
		return contextPrefix + environment
	}
	return contextPrefix + environment + "/" + application
}

// IsContext reports whether a commit status mirrors health: it is no check of a user.
func IsContext(context string) bool { return strings.HasPrefix(context, contextPrefix) }

// maxDescription is the number of bytes of a description that every forge keeps.
// https://docs.github.com/en/rest/commits/statuses limits it to 140 characters.
const maxDescription = 140

// Description returns the state as the description of a commit status:
// "Degraded, Synced since 2026-11-20T10:11:12Z: message", and where both differ
// "Progressing since 2026-11-20T10:11:12Z, healthy since 2026-11-19T08:00:00Z".
func (s State) Description() string {
	text := s.times()
	if s.Message != "" {
		text += ": " + s.Message
	}
	return oneLine(text, maxDescription)
}

// SameTimes reports whether two states differ in no more than what the source said. Messages
// may change with each report, and forges limit how many statuses a commit has.
func (s State) SameTimes(other State) bool { return s.times() == other.times() }

func (s State) times() string {
	text := s.String() + " since " + s.Since.UTC().Format(time.RFC3339)
	if !s.HealthySince.IsZero() && !(s.IsHealthy() && s.HealthySince.Equal(s.Since)) {
		text += ", healthy since " + s.HealthySince.UTC().Format(time.RFC3339)
	}
	if !s.UnhealthySince.IsZero() && (s.Status == Unknown || !s.UnhealthySince.Equal(s.Since)) {
		text += ", unhealthy since " + s.UnhealthySince.UTC().Format(time.RFC3339)
	}
	return text
}

var description = regexp.MustCompile(`^(\w+)(?:, (\w+))? since (\S+?Z)` +
	`(?:, healthy since (\S+?Z))?(?:, unhealthy since (\S+?Z))?(?:: (.*))?$`)

// ParseDescription reads a state from the description of a commit status that promoter set.
func ParseDescription(text string) (s State, ok bool) {
	match := description.FindStringSubmatch(text)
	if match == nil {
		return State{}, false
	}
	var known, synced bool
	s.Status, known = ParseStatus(match[1])
	s.Sync, synced = ParseSync(match[2])
	s.Message = match[6]
	valid := known && synced
	parse := func(text string, into *time.Time) {
		at, err := time.Parse(time.RFC3339, text)
		*into, valid = at, valid && err == nil
	}
	parse(match[3], &s.Since)
	switch {
	case match[4] != "":
		parse(match[4], &s.HealthySince)
	case s.IsHealthy():
		s.HealthySince = s.Since
	}
	switch {
	case match[5] != "":
		parse(match[5], &s.UnhealthySince)
	case s.Status == Degraded, s.Status == Missing, s.Status == Progressing:
		s.UnhealthySince = s.Since
	}
	return s, valid
}
