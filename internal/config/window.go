package config

import (
	"cmp"
	"slices"
	"time"

	"promoter/internal/schedule"
)

func (l *loader) windows() {
	for _, e := range l.raw.Windows.Entries {
		l.config.Windows = append(l.config.Windows, l.window(e.Key, e.Value))
	}
}

func (l *loader) window(name at[string], raw *rawWindow) Window {
	window := Window{Position: name.Position, Name: name.Value}
	if raw.bad || !l.windowShape(name, raw) {
		return window
	}
	window.Spec = schedule.Spec{
		Kind: schedule.Kind(raw.Kind.Value), Schedule: raw.Schedule.Value, Duration: raw.Duration.Value,
		From: raw.From.Value, Until: raw.Until.Value, TimeZone: raw.TimeZone.Value,
	}
	compiled, err := schedule.NewWindow(name.Value, window.Spec)
	if err != nil {
		l.failf(l.blame(name, raw), "see windows in docs/configuration.md", "window %s: %v", name.Value, err)
	}
	window.Compiled = compiled
	return window
}

// windowShape checks which keys stand together; the values are checked by the
// schedule package.
func (l *loader) windowShape(name at[string], raw *rawWindow) bool {
	recurring := raw.Schedule.set() || raw.Duration.set()
	ranged := raw.From.set() || raw.Until.set()
	switch {
	case !raw.Kind.set():
		l.failf(name.Position, "add kind: allow or kind: deny", "the window %s has no kind", name.Value)
	case recurring && ranged:
		l.failf(last(raw.From.place, raw.Until.place, raw.Schedule.place, raw.Duration.place),
			"make two windows of it", "the window %s has both a schedule and dates", name.Value)
	case !recurring && !ranged:
		l.failf(name.Position, "add schedule and duration, or from and until", "the window %s has no time", name.Value)
	case recurring && !raw.Duration.set():
		l.failf(raw.Schedule.Position, "add duration: how long it stays open", "the window %s has a schedule and no duration", name.Value)
	case recurring && !raw.Schedule.set():
		l.failf(raw.Duration.Position, "add schedule: five cron fields", "the window %s has a duration and no schedule", name.Value)
	case raw.Duration.ok() && raw.Duration.Value <= 0:
		l.failf(raw.Duration.Position, "write how long it stays open", "the window %s is never open", name.Value)
	default:
		return !raw.Kind.bad && !raw.Schedule.bad && !raw.Duration.bad && !raw.From.bad && !raw.Until.bad && !raw.TimeZone.bad
	}
	return false
}

// last returns the position that stands furthest down.
func last(targets ...place) Position {
	return slices.MaxFunc(targets, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}).Position
}

// blame finds the key that the schedule package refused, by trying each alone.
func (l *loader) blame(name at[string], raw *rawWindow) Position {
	tries := []struct {
		key  at[string]
		spec schedule.Spec
	}{
		{raw.TimeZone, schedule.Spec{Schedule: "0 0 * * *", Duration: time.Hour, TimeZone: raw.TimeZone.Value}},
		{raw.Schedule, schedule.Spec{Schedule: raw.Schedule.Value, Duration: time.Hour}},
		{raw.From, schedule.Spec{From: raw.From.Value}},
		{raw.Until, schedule.Spec{Until: raw.Until.Value}},
	}
	for _, try := range tries {
		if !try.key.set() {
			continue
		}
		try.spec.Kind = schedule.Allow
		if _, err := schedule.NewWindow(name.Value, try.spec); err != nil {
			return try.key.Position
		}
	}
	switch {
	case raw.Until.set():
		return raw.Until.Position
	case raw.Duration.set():
		return raw.Duration.Position
	}
	return name.Position
}
