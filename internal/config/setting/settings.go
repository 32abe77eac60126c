// Package setting has the settings of an environment in .promoter.yaml: who starts promotions,
// what they wait for, how they land, and what is reported about them. Applications may override
// each of them.
//
// The layers of applications are merged over the environment key by key. Lists are replaced
// as a whole. Every setting has one file with its raw form, its validation, and its value. A
// gate (gate_*.go) or a condition (condition_*.go) is one file and one row in a table.
package setting

import (
	"fmt"
	"slices"

	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// Settings are the settings of an environment as they apply to one application, with defaults.
type Settings struct {
	After       []Parent
	Propose     Propose
	Land        Land
	Newer       Newer
	Gates       Gates
	PullRequest PullRequest
	Health      *Health // nil: not monitored
	Notify      []Notification
}

// RawOverride is the settings of an environment that can differ by application.
type RawOverride struct {
	strictyaml.Origin
	// Whether promotions start by themselves, wait for a request, or never start, so that promoter only observes. Default: `automatic`.
	Propose strictyaml.Located[string] `yaml:"propose" values:"automatic manual never"`
	// How a promotion reaches the branch: users merge its pull request, promoter merges it, or promoter pushes without one. Default: `pr`.
	Land strictyaml.Located[string] `yaml:"land" values:"pr automerge push"`
	// What a newer snapshot does while an older one is promoted: update the pull request, wait for it, or wait
	// until the children have the older one. See docs/configuration.md#newer. Default: `refresh`, with `propose:
	// manual` `queue`.
	Newer strictyaml.Located[string] `yaml:"newer" values:"refresh queue drain"`
	// Parents, whose versions are promoted: a list of environments, or a mapping with conditions. See
	// docs/configuration.md#after. Default: none, versions come from the registry.
	After RawAfter `yaml:"after"`
	// What must pass before a promotion lands.
	Gates *rawGates `yaml:"gates"`
	// Content and grouping of pull requests. Not with `land: push`.
	PullRequest *rawPullRequest `yaml:"pullRequest"`
	// Where it is known from whether what landed is healthy. Default: none, the environment is not monitored. See
	// docs/configuration.md#health.
	Health *rawHealth `yaml:"health"`
	// Messages about promotions into the environment. The list replaces that of the file. See
	// docs/guides/notifications.md. Default: as at the top of the file.
	Notify strictyaml.Sections[*RawNotification] `yaml:"notify"`
}

// Settings returns the settings, with defaults.
func (raw RawOverride) Settings() Settings {
	return Settings{
		After:       raw.After.parents(),
		Propose:     Propose(raw.Propose.Or(string(ProposeAutomatic))),
		Land:        Land(raw.Land.Or(string(LandPR))),
		Newer:       Newer(raw.Newer.Or(string(defaultNewer(raw.Propose)))),
		Gates:       raw.Gates.gates(),
		PullRequest: raw.PullRequest.pullRequest(),
		Health:      raw.Health.health(),
		Notify:      notifications(raw.Notify),
	}
}

// Merge puts one layer over another. Neither is changed.
func Merge(base RawOverride, over *RawOverride) RawOverride {
	merged := *strictyaml.Merge(&base, over)
	merged.Origin = base.Origin
	merged.After = mergeAfter(base.After, over.After)
	merged.Health = mergeHealth(base.Health, over.Health)
	return merged
}

// File is what the settings of one file are written in and validated with.
type File struct {
	Report       *strictyaml.Report
	Environments []strictyaml.Entry[*RawOverride]
	Layers       []Layer                               // of applications, the strongest last
	Notify       strictyaml.Sections[*RawNotification] // of the whole file

	EnvironmentNames, WindowNames strictyaml.Names // that settings may refer to

	Captures bool // there are applications other than the default one
	// Compare counts comparisons. It returns false when the file needs too many.
	Compare func(at strictyaml.Position, count int) bool
}

// Layer is the settings of the applications that match a pattern.
type Layer struct {
	Pattern   string
	Written   []strictyaml.Entry[*RawOverride]
	Overrides map[string]*RawOverride // those of Written that are usable, by environment
	Notify    strictyaml.Sections[*RawNotification]
}

// Each visits the settings as they are written in the file.
func (f *File) Each(visit func(environment string, raw *RawOverride)) {
	for _, e := range f.Environments {
		if !e.Value.Invalid {
			visit(e.Key.Value, e.Value)
		}
	}
	for _, layer := range f.Layers {
		for _, e := range layer.Written {
			if !e.Value.Invalid {
				visit(e.Key.Value, e.Value)
			}
		}
	}
}

// Check validates what each layer sets, and then every combination that an application can
// have. A rule involves two settings at most, and each comes from one layer, so all pairs of
// layers that can apply together cover every application.
func (f *File) Check() {
	checkNotify(f.Report, f.Notify)
	for _, layer := range f.Layers {
		checkNotify(f.Report, layer.Notify)
		for _, e := range layer.Written {
			if override := layer.Overrides[e.Key.Value]; override != nil {
				checkPullRequestOverride(f.Report, override.PullRequest)
			}
		}
	}
	f.Each(func(environment string, raw *RawOverride) {
		checkPush(f.Report, environment, raw)
		checkAfter(f, raw.After)
		checkGates(f, raw.Gates)
		checkPullRequest(f.Report, raw.PullRequest)
		checkHealth(f, raw.Health)
		checkNotify(f.Report, raw.Notify)
	})
	base := &world{children: map[string][]string{}}
	for _, e := range f.Environments {
		for _, parent := range e.Value.After.Parents.Entries {
			base.children[parent.Key.Value] = append(base.children[parent.Key.Value], e.Key.Value)
		}
		base.base = append(base.base, environment{name: e.Key.Value, raw: *e.Value})
	}
	checkWorld(f, base)
	layers := slices.DeleteFunc(slices.Clone(f.Layers), func(l Layer) bool { return len(l.Overrides) == 0 })
	for i := range layers {
		checkWorld(f, base.over(layers[i]))
		for j := range i {
			if glob.NamesOverlap(layers[i].Pattern, layers[j].Pattern) {
				checkWorld(f, base.over(layers[j], layers[i]))
			}
		}
		if !f.Compare(strictyaml.Position{}, 0) {
			break
		}
	}
}

// environment is one environment as it applies to some applications.
type environment struct {
	name string
	raw  RawOverride
}

// world is all environments as they apply to some applications: without layers, with
// one layer, or with two.
type world struct {
	base     []environment // in the order of the file
	children map[string][]string
	changed  map[string]*environment // by layers; nil: there are none
	names    []string                // of changed
}

func (w *world) find(name string) *environment {
	if s := w.changed[name]; s != nil {
		return s
	}
	if i := slices.IndexFunc(w.base, func(s environment) bool { return s.name == name }); i >= 0 {
		return &w.base[i]
	}
	return nil
}

// over returns the world with layers over it, the strongest last.
func (w *world) over(layers ...Layer) *world {
	out := &world{base: w.base, children: w.children, changed: map[string]*environment{}}
	for _, layer := range layers {
		for _, e := range layer.Written {
			override, below := layer.Overrides[e.Key.Value], out.find(e.Key.Value)
			if override == nil || below == nil {
				continue
			}
			if out.changed[below.name] == nil {
				out.names = append(out.names, below.name)
			}
			out.changed[below.name] = &environment{name: below.name, raw: Merge(below.raw, override)}
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

// mergeCost is the cost of merging and validating one environment, in comparisons.
const mergeCost = 5

// checkWorld validates merged settings.
func checkWorld(f *File, w *world) {
	for _, name := range w.affected() {
		s := w.find(name)
		if s == nil || !f.Compare(s.raw.Position, mergeCost+len(s.raw.After.Parents.Entries)) {
			return
		}
		checkLandMerged(f.Report, s)
		checkNewerMerged(f.Report, s, w)
		checkGatesMerged(f.Report, s)
		checkHealthMerged(f.Report, s)
		checkAfterMerged(f.Report, s, w)
	}
}

// also is the end of a hint: the line of the other of two keys, when it is another line.
func also(other, here strictyaml.Origin, key string) string {
	if !other.IsSet() || other.Line == here.Line {
		return ""
	}
	return fmt.Sprintf("; %s is on line %d", key, other.Line)
}
