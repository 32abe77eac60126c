package field

import (
	"strings"
	"time"

	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// RawPoll is how often a registry is read: an interval, or a mapping with a schedule.
// Both config files use it.
type RawPoll struct {
	RawSchedule
	every strictyaml.Located[time.Duration]
}

// RawSchedule is a schedule for reading tags.
type RawSchedule struct {
	strictyaml.Origin
	// Time in five cron fields: minute, hour, day, month, weekday.
	Schedule strictyaml.Located[string] `yaml:"schedule" required:"true"`
	// Time zone, such as `Europe/Berlin`. Default: `UTC`.
	TimeZone strictyaml.Located[string] `yaml:"timeZone"`
}

// Decode implements strictyaml.Decodable.
func (p *RawPoll) Decode(d *strictyaml.Decoder, n *strictyaml.Node) {
	p.Position = d.Position(n)
	switch {
	case n.Kind == strictyaml.MappingNode:
		d.Struct(n, &p.RawSchedule)
		p.Invalid = p.Invalid || p.Schedule.Invalid || p.TimeZone.Invalid
	case n.Kind == strictyaml.ScalarNode && len(strings.Fields(n.Value)) > 1:
		p.Invalid = true
		d.Report.Errorf(p.Position, `write {schedule: "0 6 * * 1-5", timeZone: Europe/Berlin}`,
			"%s is an interval, or a mapping with a schedule", d.Key)
	default:
		p.every.Decode(d, n)
		p.Invalid = p.every.Invalid
	}
}

// Times compiles the poll. It returns false when the key is absent or after a problem.
func (p RawPoll) Times(report *strictyaml.Report) (schedule.Times, bool) {
	switch {
	case !p.Valid():
		return schedule.Times{}, false
	case p.every.IsSet() && p.every.Value <= 0:
		report.Errorf(p.every.Position, "write how often to read the registry, as in 1h", "poll must be longer than 0")
		return schedule.Times{}, false
	case !p.every.IsSet() && !p.Schedule.IsSet():
		report.Errorf(p.Position, "add schedule: five cron fields, or write only an interval, as in poll: 1h", "poll has no schedule")
		return schedule.Times{}, false
	}
	times, err := schedule.NewTimes(schedule.TimesSpec{Every: p.every.Value, Schedule: p.Schedule.Value, TimeZone: p.TimeZone.Value})
	if err != nil {
		refused := p.Schedule.Position
		if _, err := schedule.NewTimes(schedule.TimesSpec{Schedule: "0 0 * * *", TimeZone: p.TimeZone.Value}); err != nil {
			refused = p.TimeZone.Position
		}
		report.Errorf(refused, "see docs/configuration.md#polls", "poll: %v", err)
	}
	return times, err == nil
}
