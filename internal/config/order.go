package config

import "slices"

// Order returns the names of the environments, parents first, otherwise in the order of
// the file.
func (c *Config) Order() []string { return slices.Clone(c.order) }

// Ancestors returns the environments that one follows, directly or indirectly, for any
// application; parents first.
func (c *Config) Ancestors(environment string) []string {
	found := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		for _, parent := range parentsOf(c, name) {
			if !found[parent] {
				found[parent] = true
				visit(parent)
			}
		}
	}
	visit(environment)
	var names []string
	for _, name := range c.order {
		if found[name] {
			names = append(names, name)
		}
	}
	return names
}

// parentsOf returns the parents of an environment for any application: its own and those
// of the overrides.
func parentsOf(c *Config, environment string) []string {
	var parents []string
	if e, ok := c.Environment(environment); ok {
		for _, parent := range e.After {
			parents = append(parents, parent.Environment)
		}
	}
	for _, layer := range c.layers {
		if override, ok := layer.overrides[environment]; ok {
			for _, parent := range override.After.Parents.Entries {
				parents = append(parents, parent.Key.Value)
			}
		}
	}
	return parents
}

// Lineage returns the environments with all that they follow, parents first.
func (c *Config) Lineage(environments []string) []string {
	var names []string
	for _, name := range c.order {
		if slices.ContainsFunc(environments, func(e string) bool { return e == name || slices.Contains(c.Ancestors(e), name) }) {
			names = append(names, name)
		}
	}
	return names
}
