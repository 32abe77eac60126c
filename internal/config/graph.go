package config

import (
	"slices"
	"strings"
)

// edge leads from an environment to one of its parents.
type edge struct {
	child  string
	parent at[string]
}

// graph orders the environments, parents first. Edges of all layers count
// together, so that one order holds for every application.
func (l *loader) graph() {
	var edges []edge
	l.eachLayer(func(environment string, raw *rawOverride) {
		for _, e := range raw.After.Parents.Entries {
			edges = append(edges, edge{child: environment, parent: e.Key})
		}
	})
	w := walker{loader: l, parents: map[string][]at[string]{}, state: map[string]visit{}}
	for _, e := range edges {
		w.parents[e.child] = append(w.parents[e.child], e.parent)
	}
	for _, environment := range l.config.Environments {
		if w.state[environment.Name] == unseen {
			w.visit(environment.Name)
		}
	}
	l.config.order = w.order
}

// visit is how far the walk through the graph got with an environment.
type visit int

const (
	unseen visit = iota
	open
	done
)

// walker walks the graph depth first.
type walker struct {
	*loader
	parents map[string][]at[string]
	state   map[string]visit
	path    []string
	order   []string
}

func (w *walker) visit(name string) {
	w.state[name] = open
	w.path = append(w.path, name)
	for _, parent := range w.parents[name] {
		switch w.state[parent.Value] {
		case unseen:
			if w.environmentNames.has(parent.Value) {
				w.visit(parent.Value)
			}
		case open:
			w.cycle(parent)
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.state[name] = done
	w.order = append(w.order, name)
}

// cycle reports the way from an environment back to itself.
func (w *walker) cycle(parent at[string]) {
	way := w.path[slices.Index(w.path, parent.Value):]
	if len(way) == 1 {
		w.failf(parent.Position, "remove it", "%s comes after itself", parent.Value)
		return
	}
	w.failf(parent.Position, "remove one of these parents",
		"the environments go round in a circle: %s after %s", strings.Join(way, " after "), parent.Value)
}

// Order returns the names of the environments, parents first, otherwise in the
// order of the file.
func (c *Config) Order() []string { return slices.Clone(c.order) }
