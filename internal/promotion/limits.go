package promotion

import "promoter/internal/config"

// Limits returns what the server file allows in an environment of the repository.
type Limits func(environment string) config.Limit

// Settings returns an environment as it applies to an application, within the
// limits of the server.
func (o Observation) Settings(environment, application string) config.Environment {
	settings, _ := o.settings(environment, application)
	return settings
}

// settings also returns conditions that show what the server limited.
func (o *Observation) settings(environment, application string) (config.Environment, []Condition) {
	wanted := o.Config.Settings(environment, application)
	if o.Limits == nil {
		return wanted, nil
	}
	settings := o.Limits(environment).Apply(wanted)
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
