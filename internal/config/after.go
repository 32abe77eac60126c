package config

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/strictyaml"
)

// Parent is an environment that snapshots come from, with conditions that must hold there.
type Parent struct {
	Position
	Environment string
	Healthy     bool
	Soak        time.Duration
	Checks      []string // patterns
	Tagged      string
}

// rawAfter is the parents of an environment: a list of names, or a mapping from names to
// conditions. The list form replaces all parents of a lower layer.
type rawAfter struct {
	strictyaml.Origin
	isList  bool
	Parents strictyaml.Map[*rawConditions]
}

// rawConditions is the set of conditions that a parent must meet before its snapshot is
// proposed.
type rawConditions struct {
	strictyaml.Origin
	// Require that the snapshot is healthy in the parent, which needs `health` there. Default: `false`.
	Healthy strictyaml.Located[bool] `yaml:"healthy"`
	// How long the snapshot must have been in the parent; where the parent has `health`, been healthy. Default: `0`.
	Soak strictyaml.Located[time.Duration] `yaml:"soak"`
	// Globs of commit statuses that must have passed on the landed commit of the parent.
	Checks strictyaml.List `yaml:"checks"`
	// Tag that must point to the digests of the snapshot.
	Tagged strictyaml.Located[string] `yaml:"tagged"`
}

// condition is one key of the conditions of a parent.
type condition struct {
	// check validates the condition as one layer sets it.
	check func(report *strictyaml.Report, parent string, raw *rawConditions)
	// merged validates it against the settings of the parent.
	merged func(report *strictyaml.Report, child string, raw *rawConditions, parent *settings)
	// isSet reports whether the condition requires anything.
	isSet func(raw *rawConditions) bool
	load  func(raw *rawConditions, out *Parent)
}

// conditions are all conditions. To add one, add a field to Parent and rawConditions,
// and a row here with its own file.
var conditions = []condition{healthyCondition, soakCondition, checksCondition, taggedCondition}

func (raw *rawConditions) any() bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return c.isSet(raw) })
}

// Decode implements strictyaml.Decodable.
func (a *rawAfter) Decode(d *strictyaml.Decoder, n *strictyaml.Node) {
	a.Position = d.Position(n)
	switch n.Kind {
	case strictyaml.SequenceNode:
		a.isList = true
		var names strictyaml.List
		names.Decode(d, n)
		for _, name := range names.Items {
			if name.Valid() {
				entry := strictyaml.Entry[*rawConditions]{Key: name, Value: &rawConditions{Origin: name.Origin}}
				a.Parents.Entries = append(a.Parents.Entries, entry)
			}
		}
	case strictyaml.MappingNode:
		a.Parents.Decode(d, n)
	default:
		a.Invalid = !d.WrongType(n, "a list of environments or a mapping from environments to conditions")
	}
}

// mergeAfter merges mappings parent by parent.
func mergeAfter(base, over rawAfter) rawAfter {
	if !over.IsSet() {
		return base
	}
	if over.isList || !base.IsSet() {
		return over
	}
	merged := rawAfter{Origin: over.Origin}
	merged.Parents.Entries = slices.Clone(base.Parents.Entries)
	for _, e := range over.Parents.Entries {
		i := slices.IndexFunc(merged.Parents.Entries, func(b strictyaml.Entry[*rawConditions]) bool { return b.Key.Value == e.Key.Value })
		if i < 0 {
			merged.Parents.Entries = append(merged.Parents.Entries, e)
			continue
		}
		e.Value = strictyaml.Merge(merged.Parents.Entries[i].Value, e.Value)
		merged.Parents.Entries[i] = e
	}
	return merged
}

// checkAfter validates the parents of one layer.
func checkAfter(in *input, after rawAfter) {
	seen := map[string]bool{}
	for _, e := range after.Parents.Entries {
		if seen[e.Key.Value] {
			in.report.Errorf(e.Key.Position, "keep one of them", "duplicate parent %s", e.Key.Value)
		}
		seen[e.Key.Value] = true
		if in.report.Known("environment", e.Key, in.environments) && !e.Value.Invalid {
			for _, condition := range conditions {
				condition.check(in.report, e.Key.Value, e.Value)
			}
		}
	}
}

// checkAfterMerged validates conditions against the parent that they refer to.
func checkAfterMerged(report *strictyaml.Report, s *settings, w *world) {
	for _, e := range s.raw.After.Parents.Entries {
		if parent := w.find(e.Key.Value); parent != nil && !e.Value.Invalid {
			for _, condition := range conditions {
				condition.merged(report, s.name, e.Value, parent)
			}
		}
	}
}

func (a rawAfter) parents() []Parent {
	var out []Parent
	for _, e := range a.Parents.Entries {
		parent := Parent{Position: e.Key.Position, Environment: e.Key.Value}
		for _, condition := range conditions {
			condition.load(e.Value, &parent)
		}
		out = append(out, parent)
	}
	return out
}

// orderEnvironments sorts the environments, parents first, and refuses cycles. The
// parents of all layers count together, so that one order applies to every application.
func orderEnvironments(in *input, layers []layer) []string {
	parents := map[string][]strictyaml.Located[string]{}
	eachSettings(in, layers, func(environment string, raw *rawOverride) {
		parents[environment] = append(parents[environment], raw.After.Parents.Keys()...)
	})
	var order, path []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		path = append(path, name)
		for _, parent := range parents[name] {
			start := slices.Index(path, parent.Value)
			switch {
			case start == len(path)-1:
				in.report.Errorf(parent.Position, "remove it", "%s comes after itself", parent.Value)
			case start >= 0:
				in.report.Errorf(parent.Position, "remove one of these parents",
					"the environments form a cycle: %s after %s", strings.Join(path[start:], " after "), parent.Value)
			case !done[parent.Value] && in.environments.Has(parent.Value):
				visit(parent.Value)
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		order = append(order, name)
	}
	for _, e := range in.raw.Environments.Entries {
		if !done[e.Key.Value] {
			visit(e.Key.Value)
		}
	}
	return order
}

// Order returns the names of the environments, parents first, otherwise in the order of
// the file.
func (c *Config) Order() []string { return slices.Clone(c.order) }

// Ancestors returns the environments that one follows, directly or indirectly, for any
// application; parents first.
func (c *Config) Ancestors(environment string) []string {
	found := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		for _, parent := range c.parentsOf(name) {
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
func (c *Config) parentsOf(environment string) []string {
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
