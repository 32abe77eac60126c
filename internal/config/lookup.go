package config

import (
	"slices"

	"promoter/internal/schedule"
)

// Environment returns the environment of that name, as it stands in the file.
func (c *Config) Environment(name string) (*Environment, bool) {
	i := slices.IndexFunc(c.Environments, func(e Environment) bool { return e.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Environments[i], true
}

// WindowsOf returns the named windows, compiled, as one gate asks them.
func (c *Config) WindowsOf(names []string) schedule.Windows {
	var windows schedule.Windows
	for _, w := range c.Windows {
		if slices.Contains(names, w.Name) {
			windows = append(windows, w.Compiled)
		}
	}
	return windows
}

// Ancestors returns the environments that one follows, directly or through
// others, for any application; parents first.
func (c *Config) Ancestors(environment string) []string {
	seen := map[string]bool{}
	c.ancestors(environment, seen)
	var names []string
	for _, name := range c.Order() {
		if seen[name] {
			names = append(names, name)
		}
	}
	return names
}

func (c *Config) ancestors(environment string, seen map[string]bool) {
	for _, parent := range c.parentsOf(environment) {
		if !seen[parent] {
			seen[parent] = true
			c.ancestors(parent, seen)
		}
	}
}

// parentsOf returns the parents of an environment for any application: its own
// and those of the overrides.
func (c *Config) parentsOf(environment string) []string {
	var parents []string
	if e, ok := c.Environment(environment); ok {
		for _, parent := range e.After {
			parents = append(parents, parent.Environment)
		}
	}
	for _, layer := range c.layers {
		override, ok := layer.overrides[environment]
		if !ok {
			continue
		}
		for _, parent := range override.After.Parents.Entries {
			parents = append(parents, parent.Key.Value)
		}
	}
	return parents
}

// Lineage returns the environments with all that they follow, parents first.
func (c *Config) Lineage(environments []string) []string {
	var names []string
	for _, name := range c.Order() {
		needed := slices.ContainsFunc(environments, func(e string) bool {
			return e == name || slices.Contains(c.Ancestors(e), name)
		})
		if needed {
			names = append(names, name)
		}
	}
	return names
}
