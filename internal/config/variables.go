package config

import (
	"time"

	"promoter/internal/schedule"
)

// variable is an environment variable that sets a key of the server's file.
type variable struct {
	name, key string
	set       func(l *serverLoader, at Position, value string)
}

// variables are the keys that differ between machines that share a file.
func variables() []variable {
	return []variable{
		{"PROMOTER_LISTEN", "listen", func(l *serverLoader, at Position, v string) { l.raw.Listen = textAt(at, v) }},
		{"PROMOTER_URL", "url", func(l *serverLoader, at Position, v string) { l.raw.URL = textAt(at, v) }},
		{"PROMOTER_DATA", "data", func(l *serverLoader, at Position, v string) { l.raw.Data = textAt(at, v) }},
		{"PROMOTER_POLL", "poll", func(l *serverLoader, at Position, v string) { l.raw.Poll = l.durationAt(at, v) }},
		{"PROMOTER_DATABASE_PATH", "database.path", func(l *serverLoader, at Position, v string) {
			l.raw.Database = &rawDatabase{place: place{Position: at}, Path: textAt(at, v)}
		}},
		// The variable holds the secret itself, so that the key becomes a
		// reference to the variable.
		{"PROMOTER_DATABASE_URL", "database.url", func(l *serverLoader, at Position, _ string) {
			l.raw.Database = &rawDatabase{place: place{Position: at}, URL: textAt(at, "env:"+at.File)}
		}},
	}
}

// environment puts the variables that are set, and not empty, over the file.
func (l *serverLoader) environment(env func(string) (string, bool)) {
	for _, v := range variables() {
		if value, found := env(v.name); found && value != "" {
			v.set(l, Position{File: v.name}, value)
		}
	}
}

func textAt(position Position, value string) at[string] {
	return at[string]{place: place{Position: position}, Value: value}
}

func (l *serverLoader) durationAt(position Position, value string) at[time.Duration] {
	out := at[time.Duration]{place: place{Position: position}}
	parsed, err := schedule.ParseDuration(value)
	if err != nil {
		l.failf(position, "write a number and a unit: 90s, 15m, 24h", "%v", err)
		out.bad = true
	}
	out.Value = parsed
	return out
}
