package config

import (
	"reflect"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"promoter/internal/schedule"
)

// maxPolls is how many different times the components of one file may name: each
// has its repository looked at.
const maxPolls = 20

// rawPoll is how often a registry is read: an interval, or a mapping with a schedule.
type rawPoll struct {
	place
	rawSchedule
	Every at[time.Duration]
}

// decode reads the short form, an interval, or the mapping.
func (p *rawPoll) decode(d *decoder, n *yaml.Node) {
	p.place.Position = d.position(n)
	switch {
	case n.Kind == yaml.MappingNode:
		d.structure(n, reflect.ValueOf(&p.rawSchedule).Elem())
		p.bad = p.rawSchedule.bad || p.Schedule.bad || p.TimeZone.bad
	case n.Kind == yaml.ScalarNode && len(strings.Fields(n.Value)) > 1:
		p.bad = true
		d.failf(p.place.Position, `write {schedule: "0 6 * * 1-5", timeZone: Europe/Berlin}`, "%s is an interval, or a mapping with a schedule", d.key)
	default:
		p.Every.decode(d, n)
		p.bad = p.Every.bad
	}
}

// times compiles what a file says. The second result is whether there is anything.
func (p rawPoll) times(c *collector) (schedule.Times, bool) {
	if !p.place.ok() {
		return schedule.Times{}, false
	}
	switch {
	case p.Every.set() && p.Every.Value <= 0:
		c.failf(p.Every.Position, "write how often to read the registry, as in 1h", "poll is not longer than nothing")
		return schedule.Times{}, false
	case !p.Every.set() && !p.Schedule.set():
		c.failf(p.place.Position, "add schedule: five cron fields, or write an interval alone, as in poll: 1h", "poll has no schedule")
		return schedule.Times{}, false
	}
	times, err := schedule.NewTimes(schedule.TimesSpec{Every: p.Every.Value, Schedule: p.Schedule.Value, TimeZone: p.TimeZone.Value})
	if err != nil {
		c.failf(p.blame(), "see polls in docs/configuration.md", "poll: %v", err)
		return schedule.Times{}, false
	}
	return times, true
}

// blame finds the key that the schedule package refused.
func (p rawPoll) blame() Position {
	_, err := schedule.NewTimes(schedule.TimesSpec{Schedule: "0 0 * * *", TimeZone: p.TimeZone.Value})
	if err != nil {
		return p.TimeZone.Position
	}
	return p.Schedule.Position
}

// countPolls bounds how many times a file names.
func (l *loader) countPolls() {
	seen := map[string]bool{}
	for i, component := range l.config.Components {
		if name := component.Poll.String(); name != "" {
			seen[name] = true
		}
		if len(seen) > maxPolls {
			l.failf(l.raw.Components.Entries[i].Value.Poll.place.Position, "let components share their times",
				"the components have more than %d different polls", maxPolls)
			return
		}
	}
}
