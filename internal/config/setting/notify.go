package setting

import (
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// Notification is a rule about messages: the events, and the destination of the server file.
type Notification struct {
	On []string // values of notify.State
	To string
}

// RawNotification is a rule about messages.
type RawNotification struct {
	strictyaml.Origin
	// Events that the destination is notified of: a version is available, its promotion waits, a pull request is
	// open, it is stuck until a user changes something, the promotion landed, and what landed is healthy, has failed, or was reverted.
	On strictyaml.List `yaml:"on" values:"version proposed waiting stuck landed healthy failed reverted" required:"true"`
	// Name of a destination of the server file that this repository may use.
	To strictyaml.Located[string] `yaml:"to" required:"true"`
}

// maxNotifications limits the rules of one list.
const maxNotifications = 50

// checkNotify validates one list. Whether a destination exists is known only to the server.
func checkNotify(report *strictyaml.Report, list strictyaml.Sections[*RawNotification]) {
	report.ErrorIf(len(list.Items) > maxNotifications, list.Position, "use one rule for each destination",
		"notify has %d rules, more than %d", len(list.Items), maxNotifications)
	for _, raw := range list.Items {
		if raw.Invalid {
			continue
		}
		switch {
		case raw.On.IsEmpty():
			report.Errorf(raw.On.Position, "name at least one event, as in [landed, failed]", "on of a notification is empty")
		case !raw.On.IsSet() && !raw.HasUnknownKey():
			report.Errorf(raw.Position, "add on: [landed, failed]", "a notification has no events")
		}
		switch {
		case raw.To.Valid() && !field.ValidName(raw.To.Value):
			report.Errorf(raw.To.Position, "write the name of a destination: "+field.NameRule,
				"%q is not the name of a destination", raw.To.Value)
		case !raw.To.IsSet() && !raw.HasUnknownKey():
			report.Errorf(raw.Position, "add to: NAME, a destination of the server file", "a notification has no destination")
		}
	}
}

func notifications(list strictyaml.Sections[*RawNotification]) []Notification {
	var out []Notification
	for _, raw := range list.Items {
		out = append(out, Notification{On: raw.On.Strings(), To: raw.To.Value})
	}
	return out
}
