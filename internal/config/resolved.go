package config

import (
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// Resolved returns the config as a file with its defaults: every anchor is expanded, and every key
// that has a default and affects a decision is written. The file means the same as the original.
//
// The overrides of applications stay as they are written, because what they do not set comes from
// the environment.
func (c *Config) Resolved() ([]byte, error) {
	root, err := strictyaml.Expand(c.File, c.text)
	if err != nil {
		return nil, err
	}
	d := defaults{}
	components := root.At("components")
	environments := root.At("environments")
	applications := root.At("applications")
	for _, component := range c.Components {
		d.set(components.At(component.Name), "pin", string(component.Pin))
	}
	for _, environment := range c.Environments {
		d.environment(environments.At(environment.Name), environment, overridden(c.layers, environment.Name))
	}
	patterns := slices.ContainsFunc(c.layers, func(l layer) bool { return !l.exact() })
	for _, application := range c.Applications {
		at := applications.At(application.Name)
		if !patterns { // else another entry may set it for the same application
			d.set(at, "settle", schedule.FormatDuration(application.Settle))
			d.set(at, "sameVersion", application.SameVersion)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return root.YAML()
}

// defaults adds keys, until an error.
type defaults struct{ err error }

func (d *defaults) set(at strictyaml.Mapping, key string, value any) {
	if d.err == nil {
		d.err = at.SetDefault(key, value)
	}
}

func (d *defaults) environment(at strictyaml.Mapping, e Environment, overridden func(key func(*setting.RawOverride) bool) bool) {
	mentions := "list"
	if e.RefusesMentions {
		mentions = refuseMentions
	}
	d.set(at, "mentions", mentions)
	d.set(at, "propose", string(e.Propose))
	d.set(at, "land", string(e.Land))
	// The default of newer depends on propose, also on that of an application.
	if !overridden(func(raw *setting.RawOverride) bool { return raw.Propose.IsSet() }) {
		d.set(at, "newer", string(e.Newer))
	}
	if pull := at.At("pullRequest"); e.Land != setting.LandPush {
		d.set(pull, "draft", e.PullRequest.Draft)
		d.set(pull, "group", string(e.PullRequest.Group))
		d.set(pull, "limit", e.PullRequest.Limit)
		d.set(pull, "rendered", e.PullRequest.Rendered)
		d.set(pull, "waitForChecks", schedule.FormatDuration(e.PullRequest.WaitForChecks))
	}
	if e.Gates.Approvals != nil {
		d.set(at.At("gates").At("approvals"), "count", e.Gates.Approvals.Count)
	}
	if e.Gates.Hold != nil {
		absent := "hold"
		if e.Gates.Hold.AbsentPasses {
			absent = "pass"
		}
		d.set(at.At("gates").At("hold"), "value", e.Gates.Hold.Value)
		d.set(at.At("gates").At("hold"), "absent", absent)
	}
	if e.Health != nil {
		d.set(at.At("health"), "timeout", schedule.FormatDuration(e.Health.Timeout))
		d.set(at.At("health"), "onFailure", string(e.Health.OnFailure))
	}
}

// overridden returns a function that reports whether an application overrides a key of an
// environment.
func overridden(layers []layer, environment string) func(key func(*setting.RawOverride) bool) bool {
	return func(key func(*setting.RawOverride) bool) bool {
		return slices.ContainsFunc(layers, func(l layer) bool { return l.overrides[environment] != nil && key(l.overrides[environment]) })
	}
}
