package config

import (
	"maps"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/strictyaml"
)

// Settings returns an environment as it applies to one application. It is the zero
// Environment when there is none of that name.
func (c *Config) Settings(environment, application string) Environment {
	i := 0 // by index: an Environment is large, and this is asked many times for each target
	for i < len(c.Environments) && c.Environments[i].Name != environment {
		i++
	}
	if i == len(c.Environments) {
		return Environment{}
	}
	out := c.Environments[i]
	if len(c.layers) == 0 {
		return out
	}
	merged, changed := c.settings[i], false
	for _, layer := range c.layers {
		if !layer.matches(application) {
			continue
		}
		if layer.raw.Notify.IsSet() {
			merged.Notify, changed = layer.raw.Notify, true
		}
		if over := layer.overrides[environment]; over != nil {
			merged, changed = setting.Merge(merged, over), true
		}
	}
	if changed {
		out.Settings = merged.Settings()
	}
	return out
}

// settingsFile returns what the settings of the file are validated with.
func (in *input) settingsFile(layers []layer) *setting.File {
	f := &setting.File{
		Report: in.report, Notify: in.raw.Notify, EnvironmentNames: in.environments, WindowNames: in.windows,
		Captures: in.captures, Compare: in.compare,
	}
	for _, e := range in.raw.Environments.Entries {
		f.Environments = append(f.Environments, strictyaml.Entry[*setting.RawOverride]{Key: e.Key, Value: &e.Value.RawOverride})
	}
	for _, l := range layers {
		f.Layers = append(f.Layers, setting.Layer{
			Pattern: l.pattern, Written: l.raw.Environments.Entries, Overrides: l.overrides, Notify: l.raw.Notify,
		})
	}
	return f
}

// environmentSettings returns the settings of each environment without layers.
func (in *input) environmentSettings() []setting.RawOverride {
	var all []setting.RawOverride
	for _, e := range in.raw.Environments.Entries {
		settings := e.Value.RawOverride
		settings.Notify = strictyaml.Pick(in.raw.Notify, settings.Notify)
		all = append(all, settings)
	}
	return all
}

// Healths returns the health of all environments, also as applications override it.
func (c *Config) Healths() []setting.Health {
	var all []setting.Health
	add := func(raw setting.RawOverride) {
		if raw.Health != nil {
			all = append(all, *raw.Settings().Health)
		}
	}
	for i, raw := range c.settings {
		add(raw)
		for _, l := range c.layers {
			if over := l.overrides[c.Environments[i].Name]; over != nil && over.Health != nil {
				add(setting.Merge(raw, over))
			}
		}
	}
	return all
}

// Receivers returns the receivers whose reports about health count, sorted.
func (c *Config) Receivers() []string {
	var names []string
	for _, h := range c.Healths() {
		if h.From != "" {
			names = append(names, h.From)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Destinations returns for each destination the events about a target that it is notified of,
// the rules of one destination together.
func (e Environment) Destinations() map[string][]string {
	to := map[string][]string{}
	for _, rule := range e.Notify {
		for _, event := range rule.On {
			if !slices.Contains(to[rule.To], event) {
				to[rule.To] = append(to[rule.To], event)
			}
		}
	}
	return to
}

// NotifyDestinations returns the destinations that the file names, sorted.
func (c *Config) NotifyDestinations() []string {
	return slices.Sorted(maps.Keys(c.notified()))
}

// NotifyPosition returns where the file names a destination.
func (c *Config) NotifyPosition(destination string) Position { return c.notified()[destination] }

// notified returns the destinations that the file names, and where each is first.
func (c *Config) notified() map[string]Position {
	names := map[string]Position{}
	add := func(list strictyaml.Sections[*setting.RawNotification]) {
		for _, raw := range list.Items {
			if at, known := names[raw.To.Value]; !known || raw.To.Line < at.Line {
				names[raw.To.Value] = raw.To.Position
			}
		}
	}
	for _, settings := range c.settings { // with those at the top
		add(settings.Notify)
	}
	for _, l := range c.layers {
		add(l.raw.Notify)
		for _, over := range l.overrides {
			add(over.Notify)
		}
	}
	return names
}

// HoldKeys returns the keys with which files stop promotions.
func (c *Config) HoldKeys() []string {
	var keys []string
	add := func(raw *setting.RawOverride) {
		if g := raw.Gates; g != nil && g.Hold != nil && !slices.Contains(keys, g.Hold.Key.Value) {
			keys = append(keys, g.Hold.Key.Value)
		}
	}
	for i := range c.settings {
		add(&c.settings[i])
	}
	for _, l := range c.layers {
		for _, e := range l.raw.Environments.Entries {
			add(e.Value)
		}
	}
	return keys
}
