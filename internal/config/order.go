package config

import "slices"

// Order returns the names of the environments, parents first, otherwise in the order of
// the file.
func (c *Config) Order() []string { return slices.Clone(c.order) }

// Ancestors returns the environments that one follows, directly or indirectly, for any
// application; parents first.
func (c *Config) Ancestors(environment string) []string {
	return c.namesIn(c.ancestors[environment])
}

// Lineage returns the environments with all that they follow, parents first.
func (c *Config) Lineage(environments []string) []string {
	all := newEnvironmentSet(len(c.order))
	for _, environment := range environments {
		if ancestors, known := c.ancestors[environment]; known {
			all.add(slices.Index(c.order, environment))
			all.addAll(ancestors)
		}
	}
	return c.namesIn(all)
}

func (c *Config) namesIn(set environmentSet) []string {
	var names []string
	for i, name := range c.order {
		if set.has(i) {
			names = append(names, name)
		}
	}
	return names
}

// ancestorsOf returns what each environment follows. The parents of all layers count together.
func ancestorsOf(c *Config) map[string]environmentSet {
	index := make(map[string]int, len(c.order))
	for i, name := range c.order {
		index[name] = i
	}
	ancestors := make(map[string]environmentSet, len(c.order))
	for _, name := range c.order { // parents first: those of the parents are known
		found := newEnvironmentSet(len(c.order))
		for _, parent := range parentsOf(c, name) {
			found.add(index[parent])
			found.addAll(ancestors[parent])
		}
		ancestors[name] = found
	}
	return ancestors
}

// environmentSet is a set of environments by their index in the order, one bit each: each environment may follow all
// others.
type environmentSet []uint64

func newEnvironmentSet(count int) environmentSet { return make(environmentSet, (count+63)/64) }

func (s environmentSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s environmentSet) has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

func (s environmentSet) addAll(others environmentSet) {
	for i := range others {
		s[i] |= others[i]
	}
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
