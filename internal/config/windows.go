package config

import (
	"slices"
	"time"

	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// Window is a time that gates refer to by its name.
type Window struct {
	Position
	Name string
	schedule.Spec
	Compiled schedule.Window
}

// rawWindow is a time window. Set schedule and duration, or one or both of from and
// until.
type rawWindow struct {
	strictyaml.Origin
	// Whether promotions land only while the window is open, or only while it is closed. An open `deny` window takes precedence.
	Kind strictyaml.Located[string] `yaml:"kind" values:"allow deny" required:"true"`
	// When the window opens, in five cron fields: minute, hour, day, month, weekday. Requires `duration`.
	Schedule strictyaml.Located[string] `yaml:"schedule"`
	// How long the window stays open. At most 366 days.
	Duration strictyaml.Located[time.Duration] `yaml:"duration"`
	// Start: `YYYY-MM-DD`, or a time in RFC 3339.
	From strictyaml.Located[string] `yaml:"from"`
	// End: `YYYY-MM-DD`, which is included, or a time in RFC 3339, which is not.
	Until strictyaml.Located[string] `yaml:"until"`
	// Time zone, such as `Europe/Berlin`. Default: `UTC`.
	TimeZone strictyaml.Located[string] `yaml:"timeZone"`
}

func loadWindows(in *input) []Window {
	var windows []Window
	for _, e := range in.raw.Windows.Entries {
		windows = append(windows, loadWindow(in.report, e.Key, e.Value))
	}
	return windows
}

// loadWindow checks which keys appear together; the schedule package validates values.
func loadWindow(report *strictyaml.Report, name strictyaml.Located[string], raw *rawWindow) Window {
	window := Window{Position: name.Position, Name: name.Value}
	recurring := raw.Schedule.IsSet() || raw.Duration.IsSet()
	dates := raw.From.IsSet() || raw.Until.IsSet()
	switch {
	case raw.Invalid:
		return window
	case !raw.Kind.IsSet():
		report.Errorf(name.Position, "add kind: allow or kind: deny", "the window %s has no kind", name.Value)
		return window
	case recurring && dates:
		report.Errorf(strictyaml.Last(raw.From.Origin, raw.Until.Origin, raw.Schedule.Origin, raw.Duration.Origin),
			"split it into two windows", "the window %s has both a schedule and dates", name.Value)
		return window
	case !recurring && !dates:
		report.Errorf(name.Position, "add schedule and duration, or from and until", "the window %s has no time", name.Value)
		return window
	case recurring && !raw.Duration.IsSet():
		report.Errorf(raw.Schedule.Position, "add duration: how long it stays open",
			"the window %s has a schedule but no duration", name.Value)
		return window
	case recurring && !raw.Schedule.IsSet():
		report.Errorf(raw.Duration.Position, "add schedule: five cron fields", "the window %s has a duration but no schedule", name.Value)
		return window
	case raw.Duration.Valid() && raw.Duration.Value <= 0:
		report.Errorf(raw.Duration.Position, "write how long it stays open", "the window %s is never open", name.Value)
		return window
	case raw.Kind.Invalid || raw.Schedule.Invalid || raw.Duration.Invalid || raw.From.Invalid || raw.Until.Invalid || raw.TimeZone.Invalid:
		return window
	}
	window.Spec = schedule.Spec{
		Kind: schedule.Kind(raw.Kind.Value), Schedule: raw.Schedule.Value, Duration: raw.Duration.Value,
		From: raw.From.Value, Until: raw.Until.Value, TimeZone: raw.TimeZone.Value,
	}
	var err error
	if window.Compiled, err = schedule.NewWindow(name.Value, window.Spec); err != nil {
		report.Errorf(refusedWindowKey(name, raw), "see docs/reference/config.md#windows", "window %s: %v", name.Value, err)
	}
	return window
}

// refusedWindowKey finds the key that the schedule package refused, by compiling each alone.
func refusedWindowKey(name strictyaml.Located[string], raw *rawWindow) Position {
	for _, try := range []struct {
		key  strictyaml.Located[string]
		spec schedule.Spec
	}{
		{raw.TimeZone, schedule.Spec{Schedule: "0 0 * * *", Duration: time.Hour, TimeZone: raw.TimeZone.Value}},
		{raw.Schedule, schedule.Spec{Schedule: raw.Schedule.Value, Duration: time.Hour}},
		{raw.From, schedule.Spec{From: raw.From.Value}},
		{raw.Until, schedule.Spec{Until: raw.Until.Value}},
	} {
		try.spec.Kind = schedule.Allow
		if _, err := schedule.NewWindow(name.Value, try.spec); try.key.IsSet() && err != nil {
			return try.key.Position
		}
	}
	return strictyaml.FirstSet(raw.Until.Origin, raw.Duration.Origin, name.Origin)
}

// WindowsOf returns the named windows, compiled, for one gate.
func (c *Config) WindowsOf(names []string) schedule.Windows {
	var windows schedule.Windows
	for _, w := range c.Windows {
		if slices.Contains(names, w.Name) {
			windows = append(windows, w.Compiled)
		}
	}
	return windows
}
