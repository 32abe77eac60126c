package config

import (
	"slices"
	"strings"
)

// layer is one entry of applications: what holds for the names it matches. Later
// layers win over earlier ones, an exact name over all globs.
type layer struct {
	glob      string
	raw       *rawApplication
	overrides map[string]*rawOverride // by environment
}

func (l layer) exact() bool { return !strings.Contains(l.glob, "*") }

func (l *loader) applications() {
	for _, e := range l.raw.Applications.Entries {
		if e.Value.bad || !l.appGlob(e.Key, "applications") {
			continue
		}
		l.config.Applications = append(l.config.Applications, l.application(e.Key, e.Value))
		l.config.layers = append(l.config.layers, l.layer(e.Key.Value, e.Value))
	}
	// Within each kind the order of the file stays.
	slices.SortStableFunc(l.config.layers, func(a, b layer) int {
		switch {
		case a.exact() == b.exact():
			return 0
		case a.exact():
			return 1
		}
		return -1
	})
}

// appGlob checks a glob of application names. Where no path captures a name,
// there is only the default application.
func (l *loader) appGlob(glob at[string], key string) bool {
	switch {
	case !glob.ok():
		return false
	case !validAppGlob(glob.Value):
		l.failf(glob.Position, "use "+nameGrammar+", and * for any part", "no application can have a name like %q", glob.Value)
		return false
	case !l.config.captures && !globMatch(glob.Value, DefaultApplication):
		l.failf(glob.Position, `write {application} into the paths of the environments; without it everything is the application "`+DefaultApplication+`"`,
			"there is no application %q for %s", glob.Value, key)
	}
	return true
}

func (l *loader) application(name at[string], raw *rawApplication) Application {
	application := Application{
		Position: name.Position, Name: name.Value, Components: texts(raw.Components),
		Settle: raw.Settle.Value, SameVersion: raw.SameVersion.Value, Labels: l.labels(raw.Labels),
	}
	l.members(name.Value, raw)
	l.config.narrowed = l.config.narrowed || raw.Components.set()
	l.sameVersion(name, raw)
	return application
}

// members checks the components of an application.
func (l *loader) members(glob string, raw *rawApplication) {
	if raw.Components.ok() && len(raw.Components.Value) == 0 {
		l.failf(raw.Components.Position, "leave components out for all", "components is an empty list")
	}
	for _, component := range raw.Components.Value {
		if !l.known("component", component, l.componentNames) {
			continue
		}
		only := l.rawComponent(component.Value).Only
		if only != nil && only.Applications.ok() && !anyGlobMeets(values(only.Applications), []string{glob}) {
			l.failf(component.Position, "change components here, or only.applications of the component",
				"%s consists of %s, which only lets other applications use it", glob, component.Value)
		}
	}
}

// sameVersion compares the versions of components, so it needs two and each must
// have a version: a moving tag has only digests.
func (l *loader) sameVersion(name at[string], raw *rawApplication) {
	if !raw.SameVersion.Value {
		return
	}
	if raw.Components.ok() && len(raw.Components.Value) == 1 {
		l.failf(raw.SameVersion.Position, "remove sameVersion, or add the other components", "sameVersion compares components, but %s has one", name.Value)
	}
	for _, component := range l.config.Components {
		moving := component.Select.Tag != ""
		member := len(raw.Components.Value) == 0 || slices.Contains(values(raw.Components), component.Name)
		if moving && member && l.inApplication(component.Name, name.Value) {
			l.failf(raw.SameVersion.Position, "select "+component.Name+" by version, or leave it out of components",
				"sameVersion cannot hold: %s follows the moving tag %s, which has no version", component.Name, component.Select.Tag)
		}
	}
}

func (l *loader) inApplication(component, glob string) bool {
	only := l.rawComponent(component).Only
	return only == nil || anyGlobMeets(values(only.Applications), []string{glob})
}

func (l *loader) rawComponent(name string) *rawComponent {
	return l.raw.Components.Entries[l.componentNames.index[name]].Value
}

func (l *loader) layer(glob string, raw *rawApplication) layer {
	overrides := map[string]*rawOverride{}
	for _, e := range raw.Environments.Entries {
		if !l.known("environment", e.Key, l.environmentNames) || e.Value.bad {
			continue
		}
		overrides[e.Key.Value] = e.Value
		l.override(e.Value)
	}
	return layer{glob: glob, raw: raw, overrides: overrides}
}

// override refuses what counts per environment and cannot differ.
func (l *loader) override(raw *rawOverride) {
	if p := raw.PullRequest; p != nil && p.Limit.set() {
		l.failf(p.Limit.Position, "set limit in environments", "pullRequest.limit counts all applications of an environment, so it cannot differ for one")
	}
}

// Application returns the settings that hold for one application.
func (c *Config) Application(name string) Application {
	application := Application{Name: name} // the position is that of the strongest layer
	for _, layer := range c.layersOf(name) {
		raw := layer.raw
		application.Position = raw.Position
		if raw.Components.set() {
			application.Components = texts(raw.Components)
		}
		application.Settle = or(raw.Settle, application.Settle)
		application.SameVersion = or(raw.SameVersion, application.SameVersion)
		for _, label := range raw.Labels.Entries {
			if application.Labels == nil {
				application.Labels = map[string]string{}
			}
			application.Labels[label.Key.Value] = label.Value.Value
		}
	}
	return application
}

// layersOf returns the layers that match, the strongest last.
func (c *Config) layersOf(application string) []layer {
	var matching []layer
	for _, layer := range c.layers {
		if globMatch(layer.glob, application) {
			matching = append(matching, layer)
		}
	}
	return matching
}
