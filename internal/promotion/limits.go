package promotion

import (
	"slices"

	"promoter/internal/config"
)

// Limits returns what the server file allows in an environment of the repository.
type Limits func(environment string) Limit

// Limit is what no repository config may exceed. A setting that is not allowed
// becomes the nearest stricter one that is: push, then automerge, then pr;
// automatic, then manual, then never. A setting stricter than all allowed ones
// stays. The zero Limit allows everything.
type Limit struct {
	Land      []config.Land    // nil: any
	Propose   []config.Propose // nil: any
	Approvals int              // at least; with it, what would be pushed becomes a pull request
}

// Settings returns an environment as it applies to an application, within the
// limits of the server.
func (o Observation) Settings(environment, application string) config.Environment {
	settings, _ := o.settings(environment, application)
	return settings
}

// settings also returns conditions that show what the server limited.
func (o *Observation) settings(environment, application string) (config.Environment, []Condition) {
	settings := o.Config.Settings(environment, application)
	if o.Limits == nil {
		return settings, nil
	}
	limit := o.Limits(environment)
	wanted := settings
	settings.Land = limit.land(settings.Land)
	settings.Propose = stricter(settings.Propose, limit.Propose, config.ProposeAutomatic, config.ProposeManual, config.ProposeNever)
	if settings.Propose != wanted.Propose && settings.Propose == config.ProposeManual {
		settings.Newer = config.NewerQueue // a request stays for what was requested
	}
	settings.Gates.Approvals = limit.approvals(settings.Gates.Approvals)

	var shown []Condition
	show := func(key, from, to string) {
		if from != to {
			shown = append(shown, Condition{
				Name: "server limit", State: Passed, Value: key + ": " + to,
				Reason: "the server does not allow " + key + ": " + from,
			})
		}
	}
	show("land", string(wanted.Land), string(settings.Land))
	show("propose", string(wanted.Propose), string(settings.Propose))
	return settings, shown
}

// limitedSettings is the gate that shows which settings the server limited.
func limitedSettings(in *input, _ *Open) []Condition { return in.limited }

// land turns a push into a pull request if approvals are required.
func (l Limit) land(wanted config.Land) config.Land {
	land := stricter(wanted, l.Land, config.LandPush, config.LandAutomerge, config.LandPR)
	if land != config.LandPush || l.Approvals == 0 {
		return land
	}
	if len(l.Land) > 0 && !slices.Contains(l.Land, config.LandAutomerge) {
		return config.LandPR
	}
	return config.LandAutomerge
}

func (l Limit) approvals(wanted *config.Approvals) *config.Approvals {
	switch {
	case l.Approvals == 0 || wanted != nil && wanted.Count >= l.Approvals:
		return wanted
	case wanted == nil:
		return &config.Approvals{Count: l.Approvals}
	}
	return &config.Approvals{Count: l.Approvals, From: wanted.From}
}

// stricter returns the first allowed value from the wanted one on; the order is
// from the most permissive to the strictest.
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
