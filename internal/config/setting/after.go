package setting

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/strictyaml"
)

// Parent is an environment that snapshots come from, with conditions that must hold there.
type Parent struct {
	strictyaml.Position
	Environment string
	Healthy     bool
	Soak        time.Duration
	Checks      []string // patterns
	Tagged      string
}

// RawAfter is the parents of an environment: a list of names, or a mapping from names to
// conditions. The list form replaces all parents of a lower layer.
type RawAfter struct {
	strictyaml.Origin
	isList  bool
	Parents strictyaml.Map[*RawConditions]
}

// RawConditions is the set of conditions that a parent must meet before its snapshot is
// proposed.
type RawConditions struct {
	strictyaml.Origin
	// Require that the snapshot is healthy in the parent, which needs `health` there. Default: `false`.
	Healthy strictyaml.Located[bool] `yaml:"healthy"`
	// How long the snapshot must have been in the parent; where the parent has `health`, been healthy. Default: `0`.
	Soak strictyaml.Located[time.Duration] `yaml:"soak"`
	// Globs of commit statuses that must have passed in the parent: on the landed commit, or on a later one with the same versions.
	Checks strictyaml.List `yaml:"checks"`
	// Tag that must point to the digests of the snapshot.
	Tagged strictyaml.Located[string] `yaml:"tagged"`
}

// condition is one key of the conditions of a parent.
type condition struct {
	// check validates the condition as one layer sets it.
	check func(report *strictyaml.Report, parent string, raw *RawConditions)
	// merged validates it against the settings of the parent.
	merged func(report *strictyaml.Report, child string, raw *RawConditions, parent *environment)
	// isSet reports whether the condition requires anything.
	isSet func(raw *RawConditions) bool
	load  func(raw *RawConditions, out *Parent)
}

// conditions are all conditions. To add one, add a field to Parent and RawConditions,
// and a row here with its own file.
var conditions = []condition{healthyCondition, soakCondition, checksCondition, taggedCondition}

func (raw *RawConditions) any() bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return c.isSet(raw) })
}

// Decode implements strictyaml.Decodable.
func (a *RawAfter) Decode(d *strictyaml.Decoder, n *strictyaml.Node) {
	a.Position = d.Position(n)
	switch n.Kind {
	case strictyaml.SequenceNode:
		a.isList = true
		var names strictyaml.List
		names.Decode(d, n)
		for _, name := range names.Items {
			if name.Valid() {
				entry := strictyaml.Entry[*RawConditions]{Key: name, Value: &RawConditions{Origin: name.Origin}}
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
func mergeAfter(base, over RawAfter) RawAfter {
	if !over.IsSet() {
		return base
	}
	if over.isList || !base.IsSet() {
		return over
	}
	merged := RawAfter{Origin: over.Origin}
	merged.Parents.Entries = slices.Clone(base.Parents.Entries)
	for _, e := range over.Parents.Entries {
		i := slices.IndexFunc(merged.Parents.Entries, func(b strictyaml.Entry[*RawConditions]) bool { return b.Key.Value == e.Key.Value })
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
func checkAfter(f *File, after RawAfter) {
	seen := map[string]bool{}
	for _, e := range after.Parents.Entries {
		f.Report.ErrorIf(seen[e.Key.Value], e.Key.Position, "keep one of them", "duplicate parent %s", e.Key.Value)
		seen[e.Key.Value] = true
		if f.Report.Known("environment", e.Key, f.EnvironmentNames) && !e.Value.Invalid {
			for _, condition := range conditions {
				condition.check(f.Report, e.Key.Value, e.Value)
			}
		}
	}
}

// checkAfterMerged validates conditions against the parent that they refer to.
func checkAfterMerged(report *strictyaml.Report, s *environment, w *world) {
	for _, e := range s.raw.After.Parents.Entries {
		if parent := w.find(e.Key.Value); parent != nil && !e.Value.Invalid {
			for _, condition := range conditions {
				condition.merged(report, s.name, e.Value, parent)
			}
		}
	}
}

func (a RawAfter) parents() []Parent {
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

// maxParents limits the parents of all environments and layers together: a decision about one application may
// read all of them.
const maxParents = 5000

// Order returns the names of the environments, parents first, and refuses cycles. The
// parents of all layers count together, so that one order applies to every application.
func (f *File) Order() []string {
	parents := map[string][]strictyaml.Located[string]{}
	count := 0
	f.Each(func(environment string, raw *RawOverride) {
		named := raw.After.Parents.Keys()
		if before := count; before <= maxParents && before+len(named) > maxParents {
			f.Report.Errorf(named[maxParents-before].Position, "name only the nearest parents: what these follow counts too",
				"the environments and applications have more than %d parents in all", maxParents)
		}
		count += len(named)
		parents[environment] = append(parents[environment], named...)
	})
	if count > maxParents {
		return nil
	}
	var order, path []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		path = append(path, name)
		for _, parent := range parents[name] {
			start := slices.Index(path, parent.Value)
			switch {
			case start == len(path)-1:
				f.Report.Errorf(parent.Position, "remove it", "%s comes after itself", parent.Value)
			case start >= 0:
				f.Report.Errorf(parent.Position, "remove one of these parents",
					"the environments form a cycle: %s after %s", strings.Join(path[start:], " after "), parent.Value)
			case !done[parent.Value] && f.EnvironmentNames.Has(parent.Value):
				visit(parent.Value)
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		order = append(order, name)
	}
	for _, e := range f.Environments {
		if !done[e.Key.Value] {
			visit(e.Key.Value)
		}
	}
	return order
}
