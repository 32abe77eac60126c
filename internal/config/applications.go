package config

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/glob"
	"promoter/internal/image"
	"promoter/internal/strictyaml"
)

// Application is the settings of one application. Config.Applications has those of one
// pattern as written in the file, Config.Application those that apply.
type Application struct {
	Position
	Name        string   // a name or a pattern
	Components  []string // nil: all that the files refer to
	Settle      time.Duration
	SameVersion bool
	Labels      map[string]string
}

// rawApplication is the settings of the applications that match the key.
type rawApplication struct {
	strictyaml.Origin
	// Components that the application consists of. Default: all that its files reference.
	Components strictyaml.List `yaml:"components"`
	// How long no component may have had a newer version before a snapshot is selected. Default: `0`.
	Settle strictyaml.Located[time.Duration] `yaml:"settle"`
	// Require the same version of all components. Not with `select.tag`. Default: `false`.
	SameVersion strictyaml.Located[bool] `yaml:"sameVersion"`
	// Labels for metrics and filters, at most 20. They do not affect decisions.
	Labels strictyaml.Map[strictyaml.Located[string]] `yaml:"labels"`
	// Settings of environments that differ for these applications. They override those of the environment key by
	// key. See docs/configuration.md#applications.
	Environments strictyaml.Map[*setting.RawOverride] `yaml:"environments"`
	// Messages about promotions of these applications. The list replaces those of the file and of environments.
	// Default: as in the environment.
	Notify strictyaml.Sections[*setting.RawNotification] `yaml:"notify"`
}

// layer is one entry of applications: settings for the names that it matches. Later
// layers take precedence over earlier ones, an exact name over all patterns.
type layer struct {
	pattern   string
	raw       *rawApplication
	overrides map[string]*setting.RawOverride // by environment
}

func (l layer) exact() bool { return !strings.Contains(l.pattern, "*") }

func (l layer) matches(application string) bool { return glob.MatchName(l.pattern, application) }

func loadApplications(in *input, c *Config) ([]Application, []layer) {
	var applications []Application
	var patterns, exact []layer
	for _, e := range in.raw.Applications.Entries {
		raw := e.Value
		if raw.Invalid || !checkApplicationPattern(in, e.Key, "applications") {
			continue
		}
		checkMembers(in, c, e.Key.Value, raw)
		checkSameVersion(in, c, e.Key.Value, raw)
		applications = append(applications, Application{
			Position: e.Key.Position, Name: e.Key.Value, Components: raw.Components.Strings(),
			Settle: raw.Settle.Value, SameVersion: raw.SameVersion.Value, Labels: field.Labels(in.report, raw.Labels),
		})
		one := layer{pattern: e.Key.Value, raw: raw, overrides: map[string]*setting.RawOverride{}}
		for _, o := range raw.Environments.Entries {
			if in.report.Known("environment", o.Key, in.environments) && !o.Value.Invalid {
				one.overrides[o.Key.Value] = o.Value
			}
		}
		if one.exact() {
			exact = append(exact, one)
		} else {
			patterns = append(patterns, one)
		}
	}
	return applications, append(patterns, exact...)
}

// indexMembers returns the applications that list components, by component. It refuses two
// for one component where that decides what an application is.
func indexMembers(in *input, c *Config) map[string]string {
	memberOf := map[string]string{}
	divided := slices.ContainsFunc(c.Environments, func(e Environment) bool { return e.ByComponent })
	for _, layer := range c.layers {
		for _, component := range layer.raw.Components.Items {
			other, twice := memberOf[component.Value]
			switch {
			case !layer.exact():
			case !twice:
				memberOf[component.Value] = layer.pattern
			case divided:
				in.report.Errorf(component.Position, "list it in one of them",
					"%s belongs to both %s and %s, but environments are divided by component", component.Value, other, layer.pattern)
			}
		}
	}
	return memberOf
}

// withoutApplications is how to fix the name of an application where nothing names one.
const withoutApplications = "write {application} into the paths of the environments, or applications: {by: component}; " +
	`without them everything is the application "` + DefaultApplication + `"`

// checkApplicationPattern validates a pattern of application names. It returns false for
// one that cannot match any name. When no path captures a name, there is only the
// default application.
func checkApplicationPattern(in *input, pattern strictyaml.Located[string], key string) bool {
	switch {
	case !pattern.Valid():
		return false
	case !field.ValidNamePattern(pattern.Value):
		in.report.Errorf(pattern.Position, "use "+field.NameRule+", and * for any part",
			"no application can have a name like %q", pattern.Value)
		return false
	case !in.captures && !glob.MatchName(pattern.Value, DefaultApplication):
		in.report.Errorf(pattern.Position, withoutApplications, "there is no application %q for %s", pattern.Value, key)
	}
	return true
}

// checkMembers validates the components of an application.
func checkMembers(in *input, c *Config, pattern string, raw *rawApplication) {
	in.report.ErrorIf(raw.Components.IsEmpty(), raw.Components.Position, "remove components for all", "components is an empty list")
	for _, name := range raw.Components.Items {
		if !in.report.Known("component", name, in.components) {
			continue
		}
		if component, _ := c.Component(name.Value); !component.Only.allowsSome(pattern) {
			in.report.Errorf(name.Position, "change components here, or only.applications of the component",
				"%s consists of %s, which is restricted to other applications", pattern, name.Value)
		}
	}
}

// checkSameVersion requires two components, each with a version: a moving tag has only
// digests.
func checkSameVersion(in *input, c *Config, pattern string, raw *rawApplication) {
	if !raw.SameVersion.Value {
		return
	}
	at, members := raw.SameVersion.Position, raw.Components.Strings()
	in.report.ErrorIf(raw.Components.Valid() && len(raw.Components.Items) == 1, at,
		"remove sameVersion, or add the other components", "sameVersion compares components, but %s has one", pattern)
	for _, component := range c.Components {
		member := len(raw.Components.Items) == 0 || slices.Contains(members, component.Name)
		name, tag := component.Name, component.Select.Tag
		if tag != "" && member && component.Only.allowsSome(pattern) {
			in.report.Errorf(at, "select "+name+" by version, or leave it out of components",
				"sameVersion cannot be satisfied: %s follows the moving tag %s, which has no version", name, tag)
		}
	}
}

// Owner returns the application that a reference in a file of an environment belongs to,
// and its component.
func (c *Config) Owner(e *Environment, file string, r image.Repository) (application string, match Match, ok bool) {
	application, ok = e.Match(file)
	if !ok {
		return "", Match{}, false
	}
	if e.ByComponent {
		return c.OwnerByComponent(e, r)
	}
	match, ok = c.Follow(e.Name, application, r)
	return application, match, ok
}

// Owner is an application that a reference may belong to, and its component.
type Owner struct {
	Application string
	Match       Match
}

// Owners returns all that Owner chooses the first of: components of one repository.
func (c *Config) Owners(e *Environment, file string, r image.Repository) (owners []Owner) {
	application, ok := e.Match(file)
	if !ok {
		return nil
	}
	for _, i := range c.index.candidates(r) {
		if e.ByComponent {
			application = c.applicationOf(i, r)
		}
		if c.follows(i, e.Name, application, r) {
			owners = append(owners, Owner{application, c.match(i, r)})
		}
	}
	return owners
}

// OwnerByComponent is Owner for any file of an environment by component.
func (c *Config) OwnerByComponent(e *Environment, r image.Repository) (application string, match Match, ok bool) {
	for _, i := range c.index.candidates(r) {
		application = c.applicationOf(i, r)
		if match, ok = c.Follow(e.Name, application, r); ok {
			return application, match, true
		}
	}
	return "", Match{}, false
}

// applicationOf returns the application of a component in the environments by component:
// the one that lists it, or one with its name.
func (c *Config) applicationOf(i int, r image.Repository) string {
	component := c.Components[i]
	if around, perApplication := c.index.templates[i]; perApplication {
		return around.application(r)
	}
	if application, listed := c.index.memberOf[component.Name]; listed {
		return application
	}
	if component.Pattern.IsExact() {
		return component.Name
	}
	return c.nameOfMatched(r)
}

// Application returns the settings that apply to one application.
func (c *Config) Application(name string) Application {
	application := Application{Name: name} // the position is that of the strongest layer
	for _, layer := range c.layers {
		if !layer.matches(name) {
			continue
		}
		raw := layer.raw
		application.Position = raw.Position
		if raw.Components.IsSet() {
			application.Components = raw.Components.Strings()
		}
		application.Settle = raw.Settle.Or(application.Settle)
		application.SameVersion = raw.SameVersion.Or(application.SameVersion)
		for _, label := range raw.Labels.Entries {
			if application.Labels == nil {
				application.Labels = map[string]string{}
			}
			application.Labels[label.Key.Value] = label.Value.Value
		}
	}
	return application
}

// DefaultApplication is the only application when no environment captures
// {application} from its paths.
const DefaultApplication = "default"
