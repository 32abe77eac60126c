package config

import (
	"fmt"
	"slices"
	"strings"
)

// settings is one environment as it holds for some applications.
type settings struct {
	name string
	raw  rawOverride
}

// world is all environments as they hold for some applications: those without a
// layer, those of one layer, or those of two.
type world struct {
	base     []settings // in the order of the file
	index    map[string]int
	children map[string][]string  // by parent, without layers
	changed  map[string]*settings // what the layers change; nil: no layers
	names    []string             // of changed
}

func (w *world) find(name string) (*settings, bool) {
	if s := w.changed[name]; s != nil {
		return s, true
	}
	i, found := w.index[name]
	if !found {
		return nil, false
	}
	return &w.base[i], true
}

// affected returns the environments to look at: all without layers, else those
// that the layers change and the children of these.
func (w *world) affected() []string {
	var names []string
	if w.changed == nil {
		for _, s := range w.base {
			names = append(names, s.name)
		}
		return names
	}
	for _, name := range w.names {
		names = append(append(names, name), w.children[name]...)
	}
	return names
}

// waitedFor says whether a child has a condition on the environment.
func (w *world) waitedFor(parent string) bool {
	for _, name := range slices.Concat(w.children[parent], w.names) {
		child, _ := w.find(name)
		for _, e := range child.raw.After.Parents.Entries {
			c := e.Value
			if e.Key.Value == parent && (c.Healthy.Value || c.Soak.Value > 0 || len(c.Checks.Value) > 0 || c.Tagged.set()) {
				return true
			}
		}
	}
	return false
}

// settings checks what each layer says, and then every combination that an
// application can meet. Rules are about two settings at most, and each of two
// settings comes from one layer, so all pairs of layers that can meet tell what
// any application can meet.
func (l *loader) settings() {
	l.eachLayer(func(environment string, raw *rawOverride) {
		l.pushWords(environment, raw)
		l.afterLayer(raw.After)
		l.gatesLayer(raw.Gates)
		l.healthLayer(raw.Health)
		l.pullRequestLayer(raw.PullRequest)
	})
	base := l.baseWorld()
	l.checkWorld(base)
	layers := slices.DeleteFunc(slices.Clone(l.config.layers), func(layer layer) bool { return len(layer.overrides) == 0 })
	for i := range layers {
		l.checkWorld(l.layeredWorld(base, layers[i]))
		for j := range i {
			if globsMeet(layers[i].glob, layers[j].glob) {
				l.checkWorld(l.layeredWorld(base, layers[j], layers[i]))
			}
		}
		if l.tooMany {
			break
		}
	}
	for i, e := range l.raw.Environments.Entries {
		raw := e.Value.settings()
		l.config.raws = append(l.config.raws, raw)
		l.config.Environments[i].apply(raw)
	}
}

// eachLayer visits the settings as they stand in the file.
func (l *loader) eachLayer(visit func(environment string, raw *rawOverride)) {
	for _, e := range l.raw.Environments.Entries {
		if !e.Value.bad {
			raw := e.Value.settings()
			visit(e.Key.Value, &raw)
		}
	}
	for _, layer := range l.config.layers {
		for _, e := range layer.raw.Environments.Entries {
			if !e.Value.bad {
				visit(e.Key.Value, e.Value)
			}
		}
	}
}

// baseWorld is the environments as they stand in the file.
func (l *loader) baseWorld() *world {
	w := &world{index: l.environmentNames.index, children: map[string][]string{}}
	for _, e := range l.raw.Environments.Entries {
		s := settings{name: e.Key.Value, raw: e.Value.settings()}
		for _, parent := range s.raw.After.Parents.Entries {
			w.children[parent.Key.Value] = append(w.children[parent.Key.Value], s.name)
		}
		w.base = append(w.base, s)
	}
	return w
}

// compareSettings is the price of merging and checking one environment, measured
// in comparisons of names.
const compareSettings = 5

// layeredWorld merges layers, the strongest last, over the environments.
func (l *loader) layeredWorld(base *world, layers ...layer) *world {
	w := &world{base: base.base, index: base.index, children: base.children, changed: map[string]*settings{}}
	for _, layer := range layers {
		for _, e := range layer.raw.Environments.Entries {
			over := layer.overrides[e.Key.Value]
			below, found := w.find(e.Key.Value)
			if over == nil || !found {
				continue
			}
			if w.changed[below.name] == nil {
				w.names = append(w.names, below.name)
			}
			w.changed[below.name] = &settings{name: below.name, raw: merge(below.raw, over)}
		}
	}
	return w
}

// checkWorld checks what an application can meet.
func (l *loader) checkWorld(w *world) {
	for _, name := range w.affected() {
		s, found := w.find(name)
		if !found || !l.compare(s.raw.Position, compareSettings+len(s.raw.After.Parents.Entries)) {
			return
		}
		l.landMerged(s)
		l.newerMerged(s, w)
		l.gatesMerged(s)
		l.healthMerged(s)
		l.afterMerged(s, w)
	}
}

// also says, for the end of a hint, on which line the other of two keys stands
// when it is not the same line.
func also(other, here place, key string) string {
	if !other.set() || other.Line == here.Line {
		return ""
	}
	return fmt.Sprintf("; %s is on line %d", key, other.Line)
}

// Settings returns an environment as it holds for one application: overrides of
// applications are merged key by key, lists replaced. It is the zero Environment
// when there is none of that name.
func (c *Config) Settings(environment, application string) Environment {
	i := slices.IndexFunc(c.Environments, func(e Environment) bool { return e.Name == environment })
	if i < 0 {
		return Environment{}
	}
	out := c.Environments[i]
	merged, changed := c.raws[i], false
	for _, layer := range c.layersOf(application) {
		if over := layer.overrides[environment]; over != nil {
			merged, changed = merge(merged, over), true
		}
	}
	if changed {
		out.apply(merged)
	}
	return out
}

// apply fills the settings that may differ per application, with defaults.
func (e *Environment) apply(raw rawOverride) {
	e.Propose = Propose(or(raw.Propose, string(ProposeAutomatic)))
	e.Land = Land(or(raw.Land, string(LandPR)))
	e.Newer = Newer(or(raw.Newer, string(defaultNewer(raw.Propose))))
	e.After = parents(raw.After)
	e.Gates = gates(raw.Gates)
	e.Health = health(raw.Health)
	e.PullRequest = pullRequest(raw.PullRequest)
}

// defaultNewer lets a promotion that a person asked for stay what they asked for.
func defaultNewer(propose at[string]) Newer {
	if propose.Value == string(ProposeManual) {
		return NewerQueue
	}
	return NewerRefresh
}

func parents(raw rawAfter) []Parent {
	var out []Parent
	for _, e := range raw.Parents.Entries {
		c := e.Value
		out = append(out, Parent{
			Position: e.Key.Position, Environment: e.Key.Value, Healthy: c.Healthy.Value,
			Soak: c.Soak.Value, Checks: texts(c.Checks), Tagged: c.Tagged.Value,
		})
	}
	return out
}

func gates(raw *rawGates) Gates {
	if raw == nil {
		return Gates{}
	}
	out := Gates{Windows: texts(raw.Windows), Checks: texts(raw.Checks)}
	if raw.Approvals != nil {
		out.Approvals = &Approvals{Count: or(raw.Approvals.Count, 1), From: texts(raw.Approvals.From)}
	}
	return out
}

func health(raw *rawHealth) *Health {
	if raw == nil {
		return nil
	}
	return &Health{
		ArgoCD: texts(raw.ArgoCD), Flux: raw.Flux.Value, Check: raw.Check.Value,
		Deployment: raw.Deployment.Value, API: raw.API.Value,
		From: raw.From.Value, Timeout: or(raw.Timeout, DefaultHealthTimeout),
		OnFailure: OnFailure(or(raw.OnFailure, string(OnFailureStop))),
	}
}

func pullRequest(raw *rawPullRequest) PullRequest {
	if raw == nil {
		return PullRequest{Group: GroupApplication, Limit: DefaultLimit}
	}
	return PullRequest{
		Title: raw.Title.Value, Body: raw.Body.Value, Draft: raw.Draft.Value,
		Labels: texts(raw.Labels), Reviewers: texts(raw.Reviewers), Assignees: texts(raw.Assignees),
		Group: Group(or(raw.Group, string(GroupApplication))), Limit: or(raw.Limit, DefaultLimit),
	}
}

// people joins names for a message.
func people(names []string) string { return strings.Join(names, ", ") }
