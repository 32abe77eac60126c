package config

import (
	"fmt"
	"slices"

	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// The settings of an environment that may differ per application are merged key by key:
// the layers of applications over the environment. Lists are replaced as a whole.

// rawOverride is the settings of an environment that can differ by application.
type rawOverride struct {
	strictyaml.Origin
	// Whether promotions start by themselves, wait for a request, or never start, so that promoter only observes. Default: `automatic`.
	Propose strictyaml.Located[string] `yaml:"propose" values:"automatic manual never"`
	// How a promotion reaches the branch: users merge its pull request, promoter merges it, or promoter pushes without one. Default: `pr`.
	Land strictyaml.Located[string] `yaml:"land" values:"pr automerge push"`
	// What a newer snapshot does while an older one is promoted: update the pull request, wait for it, or wait until the children have the older one. See docs/configuration.md#newer. Default: `refresh`, with `propose: manual` `queue`.
	Newer strictyaml.Located[string] `yaml:"newer" values:"refresh queue drain"`
	// Parents, whose versions are promoted: a list of environments, or a mapping with conditions. See docs/configuration.md#after. Default: none, versions come from the registry.
	After rawAfter `yaml:"after"`
	// What must pass before a promotion lands.
	Gates *rawGates `yaml:"gates"`
	// Content and grouping of pull requests. Not with `land: push`.
	PullRequest *rawPullRequest `yaml:"pullRequest"`
	// Where it is known from whether what landed is healthy. Default: none, the environment is not monitored. See docs/configuration.md#health.
	Health *rawHealth `yaml:"health"`
	// Messages about promotions into the environment. The list replaces that of the file. See docs/guides/notifications.md. Default: as at the top of the file.
	Notify strictyaml.Sections[*rawNotification] `yaml:"notify"`
}

// merge puts one layer over another. Neither is changed.
func merge(base rawOverride, over *rawOverride) rawOverride {
	merged := *strictyaml.Merge(&base, over)
	merged.Origin = base.Origin
	merged.After = mergeAfter(base.After, over.After)
	merged.Health = mergeHealth(base.Health, over.Health)
	return merged
}

// settings is one environment as it applies to some applications.
type settings struct {
	name string
	raw  rawOverride
}

// world is all environments as they apply to some applications: without layers, with
// one layer, or with two.
type world struct {
	base     []settings // in the order of the file
	children map[string][]string
	changed  map[string]*settings // by layers; nil: there are none
	names    []string             // of changed
}

func (w *world) find(name string) *settings {
	if s := w.changed[name]; s != nil {
		return s
	}
	if i := slices.IndexFunc(w.base, func(s settings) bool { return s.name == name }); i >= 0 {
		return &w.base[i]
	}
	return nil
}

// over returns the world with layers over it, the strongest last.
func (w *world) over(layers ...layer) *world {
	out := &world{base: w.base, children: w.children, changed: map[string]*settings{}}
	for _, layer := range layers {
		for _, e := range layer.raw.Environments.Entries {
			override, below := layer.overrides[e.Key.Value], out.find(e.Key.Value)
			if override == nil || below == nil {
				continue
			}
			if out.changed[below.name] == nil {
				out.names = append(out.names, below.name)
			}
			out.changed[below.name] = &settings{name: below.name, raw: merge(below.raw, override)}
		}
	}
	return out
}

// affected returns the environments to validate: all without layers, else those that the
// layers change and their children.
func (w *world) affected() []string {
	var names []string
	if w.changed == nil {
		for _, s := range w.base {
			names = append(names, s.name)
		}
	}
	for _, name := range w.names {
		names = append(append(names, name), w.children[name]...)
	}
	return names
}

// loadSettings validates what each layer sets, and then every combination that an
// application can have. A rule involves two settings at most, and each comes from one
// layer, so all pairs of layers that can apply together cover every application. It
// returns the settings without layers.
func loadSettings(in *input, layers []layer) []rawOverride {
	checkNotify(in.report, in.raw.Notify)
	for _, layer := range layers {
		checkNotify(in.report, layer.raw.Notify)
	}
	eachSettings(in, layers, func(environment string, raw *rawOverride) {
		checkPush(in.report, environment, raw)
		checkAfter(in, raw.After)
		checkGates(in, raw.Gates)
		checkPullRequest(in.report, raw.PullRequest)
		checkHealth(in, raw.Health)
		checkNotify(in.report, raw.Notify)
	})
	base := &world{children: map[string][]string{}}
	var out []rawOverride
	for _, e := range in.raw.Environments.Entries {
		for _, parent := range e.Value.After.Parents.Entries {
			base.children[parent.Key.Value] = append(base.children[parent.Key.Value], e.Key.Value)
		}
		base.base = append(base.base, settings{name: e.Key.Value, raw: e.Value.rawOverride})
		settings := e.Value.rawOverride
		settings.Notify = strictyaml.Pick(in.raw.Notify, settings.Notify)
		out = append(out, settings)
	}
	checkWorld(in, base)
	layers = slices.DeleteFunc(slices.Clone(layers), func(l layer) bool { return len(l.overrides) == 0 })
	for i := range layers {
		checkWorld(in, base.over(layers[i]))
		for j := range i {
			if glob.NamesOverlap(layers[i].pattern, layers[j].pattern) {
				checkWorld(in, base.over(layers[j], layers[i]))
			}
		}
		if in.comparisons < 0 {
			break
		}
	}
	return out
}

// eachSettings visits the settings as they are written in the file.
func eachSettings(in *input, layers []layer, visit func(environment string, raw *rawOverride)) {
	for _, e := range in.raw.Environments.Entries {
		if !e.Value.Invalid {
			visit(e.Key.Value, &e.Value.rawOverride)
		}
	}
	for _, layer := range layers {
		for _, e := range layer.raw.Environments.Entries {
			if !e.Value.Invalid {
				visit(e.Key.Value, e.Value)
			}
		}
	}
}

// mergeCost is the cost of merging and validating one environment, in comparisons.
const mergeCost = 5

// checkWorld validates merged settings.
func checkWorld(in *input, w *world) {
	for _, name := range w.affected() {
		s := w.find(name)
		if s == nil || !in.compare(s.raw.Position, mergeCost+len(s.raw.After.Parents.Entries)) {
			return
		}
		checkLandMerged(in.report, s)
		checkNewerMerged(in.report, s, w)
		checkGatesMerged(in.report, s)
		checkHealthMerged(in.report, s)
		checkAfterMerged(in.report, s, w)
	}
}

// also is the end of a hint: the line of the other of two keys, when it is another line.
func also(other, here strictyaml.Origin, key string) string {
	if !other.IsSet() || other.Line == here.Line {
		return ""
	}
	return fmt.Sprintf("; %s is on line %d", key, other.Line)
}

// Settings returns an environment as it applies to one application. It is the zero
// Environment when there is none of that name.
func (c *Config) Settings(environment, application string) Environment {
	i := slices.IndexFunc(c.Environments, func(e Environment) bool { return e.Name == environment })
	if i < 0 {
		return Environment{}
	}
	out := c.Environments[i]
	merged, changed := c.settings[i], false
	for _, layer := range c.layers {
		if !layer.matches(application) {
			continue
		}
		if layer.raw.Notify.IsSet() {
			merged.Notify, changed = layer.raw.Notify, true
		}
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
	e.Propose = Propose(raw.Propose.Or(string(ProposeAutomatic)))
	e.Land = Land(raw.Land.Or(string(LandPR)))
	e.Newer = Newer(raw.Newer.Or(string(defaultNewer(raw.Propose))))
	e.After = raw.After.parents()
	e.Gates = raw.Gates.gates()
	e.PullRequest = raw.PullRequest.pullRequest()
	e.Health = raw.Health.health()
	e.Notify = notifications(raw.Notify)
}
