package promotion

import (
	"slices"

	"promoter/internal/config"
)

// Limits tells what the server's file allows in an environment of the repository.
type Limits func(environment string) Limit

// Limit is what no config file may go beyond. A setting that is not allowed becomes
// the nearest stricter one that is: push, then automerge, then pr; automatic, then
// manual, then never. A setting stricter than all that is allowed stays: it goes
// beyond nothing. The zero Cap allows everything.
type Limit struct {
	Land      []config.Land    // nil: any
	Propose   []config.Propose // nil: any
	Approvals int              // at least; what pushes becomes a pull request
}

// Settings returns an environment as it holds for an application, within what the
// server allows.
func (o Observation) Settings(environment, application string) config.Environment {
	settings, _ := o.settings(environment, application)
	return settings
}

// settings tells beside them what the server changed.
func (o Observation) settings(environment, application string) (config.Environment, []Condition) {
	settings := o.Config.Settings(environment, application)
	if o.Limits == nil {
		return settings, nil
	}
	limit := o.Limits(environment)
	wanted := settings
	settings.Land = limit.land(settings.Land)
	settings.Propose = stricter(settings.Propose, limit.Propose, config.ProposeAutomatic, config.ProposeManual, config.ProposeNever)
	if settings.Propose != wanted.Propose && settings.Propose == config.ProposeManual {
		settings.Newer = config.NewerQueue // what a person asked for stays what they asked for
	}
	settings.Gates.Approvals = limit.approvals(settings.Gates.Approvals)
	return settings, limited(wanted, settings)
}

// land makes a pull request of what pushes where approvals are wanted.
func (c Limit) land(wanted config.Land) config.Land {
	land := stricter(wanted, c.Land, config.LandPush, config.LandAutomerge, config.LandPR)
	if land != config.LandPush || c.Approvals == 0 {
		return land
	}
	if len(c.Land) > 0 && !slices.Contains(c.Land, config.LandAutomerge) {
		return config.LandPR
	}
	return config.LandAutomerge
}

func (c Limit) approvals(wanted *config.Approvals) *config.Approvals {
	switch {
	case c.Approvals == 0 || wanted != nil && wanted.Count >= c.Approvals:
		return wanted
	case wanted == nil:
		return &config.Approvals{Count: c.Approvals}
	}
	return &config.Approvals{Count: c.Approvals, From: wanted.From}
}

// stricter returns the first value from the wanted one on that is allowed; the
// order is from the laxest to the strictest.
func stricter[T comparable](wanted T, allowed []T, order ...T) T {
	if len(allowed) == 0 {
		return wanted
	}
	for _, value := range order[max(0, slices.Index(order, wanted)):] {
		if slices.Contains(allowed, value) {
			return value
		}
	}
	return wanted
}

// limited shows what the server changed, so that nobody looks for it in the
// config file.
func limited(wanted, given config.Environment) []Condition {
	var shown []Condition
	add := func(key, from, to string) {
		if from != to {
			shown = append(shown, Condition{
				Name: "limit of the server", State: Passed, Value: key + ": " + to,
				Reason: "the server does not allow " + key + ": " + from,
			})
		}
	}
	add("land", string(wanted.Land), string(given.Land))
	add("propose", string(wanted.Propose), string(given.Propose))
	return shown
}
