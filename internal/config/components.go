package config

import (
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/config/trust"
	"promoter/internal/glob"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

// Component is one artifact that is promoted.
type Component struct {
	Position
	Name     string
	Artifact image.Artifact
	Pattern  image.Pattern
	Select   Select
	Pin      image.Pin
	Only     *Only              // nil: used everywhere
	Source   string             // source repository; empty: named by the image's annotations
	Poll     schedule.Times     // when its tags are read; zero: as in the server file
	Verify   *trust.Requirement // what signatures must prove; nil: nothing
	Template string             // the repository with {application}, which Pattern has as *; empty without
}

// RepositoryIn returns the repository of the component in the application that paths
// capture as the given text, if that is one repository.
func (c Component) RepositoryIn(captured string) (image.Repository, bool) {
	if c.Template == "" {
		return c.Pattern.Repository()
	}
	repository, err := image.ParseRepository(strings.Replace(c.Template, glob.Application, captured, 1))
	return repository, err == nil
}

// around is what is before and after {application} in the full name of a repository.
type around struct{ before, after string }

// aroundApplication returns false if the template is not the name of one repository for
// each application.
func (c Component) aroundApplication() (around, bool) {
	const name = "promoter-application"
	repository, one := c.RepositoryIn(name)
	before, after, _ := strings.Cut(repository.String(), name)
	return around{before, after}, one && strings.Contains(before, "/") && !strings.Contains(c.Template, "*") &&
		!strings.Contains(after, glob.Application)
}

// Only restricts where a component is used. An empty list means everywhere.
type Only struct {
	Applications []string // patterns
	Environments []string
}

// rawComponent is an artifact to promote. Set exactly one of image, chart, and artifact.
type rawComponent struct {
	strictyaml.Origin
	// Container image without a tag: `HOST/PATH`. In a glob, `*` matches within one segment, `**` any number of
	// segments. `{application}` is the name of the application.
	Image strictyaml.Located[string] `yaml:"image"`
	// OCI Helm chart: `oci://HOST/PATH`, or a glob.
	Chart strictyaml.Located[string] `yaml:"chart"`
	// Another OCI artifact: `oci://HOST/PATH`, or a glob.
	Artifact strictyaml.Located[string] `yaml:"artifact"`
	// Which version to promote. See docs/configuration.md#select.
	Select *rawSelect `yaml:"select" required:"true"`
	// How the version is written: in the form that the file uses, as tag, as digest, or as both. Not `tag` with
	// `select.tag`. See docs/writing.md#what-each-pin-writes. Default: `keep`.
	Pin strictyaml.Located[string] `yaml:"pin" values:"keep tag digest tag+digest"`
	// Applications and environments that use the component.
	Only *rawOnly `yaml:"only"`
	// Source repository, `HOST/OWNER/NAME`, whose commits pull requests show. It has priority over the annotations
	// of the image. See docs/pull-requests.md. Default: as the image says.
	Source strictyaml.Located[string] `yaml:"source"`
	// How often the service reads the tags: an interval, or a schedule. See docs/configuration.md#polls. Default: as in the server file.
	Poll field.RawPoll `yaml:"poll"`

	// Signatures that an image must have. See docs/guides/signatures.md. Default: as `verify` at the top of the file.
	Verify *rawComponentVerify `yaml:"verify"`
}

// rawOnly is where a component is used.
type rawOnly struct {
	strictyaml.Origin
	// Names or globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Names of environments. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

func loadComponents(in *input) ([]Component, map[string]*image.Policy) {
	var components []Component
	policies := map[string]*image.Policy{}
	for _, e := range in.raw.Components.Entries {
		component := Component{Position: e.Key.Position, Name: e.Key.Value, Pin: image.Pin(e.Value.Pin.Or(string(image.PinKeep)))}
		if raw := e.Value; !raw.Invalid {
			loadArtifact(in.report, raw, &component)
			if policy := loadSelect(in.report, raw, &component); policy != nil {
				policies[component.Name] = policy
			}
			component.Source = raw.Source.Value
			if raw.Source.Valid() && !trust.ValidSource(component.Source) {
				in.report.Errorf(raw.Source.Position, "write HOST/OWNER/NAME, as in github.com/acme/web",
					"%q is not a source repository", component.Source)
			}
			component.Poll, _ = raw.Poll.Times(in.report)
			component.Only = loadOnly(in, component.Name, raw.Only)
			in.report.ErrorIf(component.Template != "" && !in.captures, component.Position,
				"write {application} into the paths of the environments", "nothing captures {application}")
		}
		components = append(components, component)
	}
	checkPolls(in, components)
	return components, policies
}

// loadArtifact reads the one of image, chart, and artifact that is present.
func loadArtifact(report *strictyaml.Report, raw *rawComponent, component *Component) {
	type choice struct {
		kind image.Artifact
		strictyaml.Located[string]
	}
	choices := slices.DeleteFunc([]choice{
		{image.ArtifactImage, raw.Image}, {image.ArtifactChart, raw.Chart}, {image.ArtifactOther, raw.Artifact},
	}, func(c choice) bool { return !c.IsSet() })
	if len(choices) == 0 {
		component.Artifact = image.ArtifactImage
		if raw.HasUnknownKey() {
			return
		}
		report.Errorf(component.Position, "add image: REPOSITORY", "the component %s has no image, chart, or artifact", component.Name)
		return
	}
	if len(choices) > 1 {
		report.Errorf(choices[1].Position, "split it into two components",
			"the component %s has both %s and %s", component.Name, choices[0].kind, choices[1].kind)
	}
	chosen := choices[0]
	component.Artifact = chosen.kind
	if !chosen.Valid() {
		return
	}
	text, hasScheme := strings.CutPrefix(chosen.Value, "oci://")
	switch {
	case chosen.kind == image.ArtifactImage && hasScheme:
		report.Errorf(chosen.Position, "remove oci://, or write chart: for a Helm chart", "an image does not start with oci://")
	case strings.Contains(text, "://"):
		report.Errorf(chosen.Position, "write HOST/PATH; charts must be in an OCI registry",
			"%q is not a repository of an OCI registry", chosen.Value)
		return
	}
	if strings.Contains(text, glob.Application) {
		component.Template = text
		if _, ok := component.aroundApplication(); !ok {
			report.Errorf(chosen.Position, "write HOST/PATH with {application} once, in the path, and without * and a tag",
				"%q is not a repository for each application", chosen.Value)
			return
		}
	}
	pattern, err := image.ParsePattern(strings.Replace(text, glob.Application, "*", 1))
	if err == nil {
		component.Pattern = pattern
		if pattern.MatchesWords() {
			const problem = "%q matches images of any owner on Docker Hub; " +
				"a text is followed only if its key or registry shows that it is an image"
			report.Warnf(chosen.Position, "write the registry and the owner, as in quay.io/acme/**", problem, chosen.Value)
		}
		return
	}
	if reference, notTagged := image.Parse(text); notTagged == nil && (reference.Tag != "" || reference.Digest != "") {
		report.Errorf(chosen.Position, "write "+reference.Name+"; select determines the version", "%q has a version", chosen.Value)
		return
	}
	report.Errorf(chosen.Position, "write HOST/PATH without a tag; * is one segment, ** many", "%v", err)
}

func loadOnly(in *input, component string, raw *rawOnly) *Only {
	if raw == nil || raw.Invalid {
		return nil
	}
	for key, list := range map[string]strictyaml.List{"applications": raw.Applications, "environments": raw.Environments} {
		in.report.ErrorIf(list.IsEmpty(), list.Position, "remove it to use the component everywhere",
			"only.%s is an empty list, so %s would be used nowhere", key, component)
	}
	in.report.ErrorIf(!raw.Applications.IsSet() && !raw.Environments.IsSet(), raw.Position,
		"add applications or environments, or remove only", "only of %s is empty", component)
	for _, pattern := range raw.Applications.Items {
		checkApplicationPattern(in, pattern, "only.applications")
	}
	for _, environment := range raw.Environments.Items {
		in.report.Known("environment", environment, in.environments)
	}
	return &Only{Applications: raw.Applications.Strings(), Environments: raw.Environments.Strings()}
}

// allows reports whether the component is used in an application of an environment.
func (o *Only) allows(environment, application string) bool {
	return o == nil || o.allowsEnvironment(environment) && (len(o.Applications) == 0 || glob.MatchAnyName(o.Applications, application))
}

func (o *Only) allowsEnvironment(environment string) bool {
	return o == nil || len(o.Environments) == 0 || slices.Contains(o.Environments, environment)
}

// allowsSome reports whether the component is used in some application that matches the
// pattern.
func (o *Only) allowsSome(pattern string) bool {
	return o == nil || len(o.Applications) == 0 ||
		slices.ContainsFunc(o.Applications, func(own string) bool { return glob.NamesOverlap(own, pattern) })
}

// overlaps reports whether both components are used in some application of some
// environment.
func (o *Only) overlaps(p *Only) bool {
	if o == nil || p == nil {
		return true
	}
	return (len(o.Environments) == 0 || slices.ContainsFunc(o.Environments, p.allowsEnvironment)) &&
		(len(o.Applications) == 0 || slices.ContainsFunc(o.Applications, p.allowsSome))
}

func (o *Only) size() int {
	if o == nil {
		return 0
	}
	return len(o.Applications) + len(o.Environments)
}

// sameImage reports whether both patterns certainly match one repository: they are the
// same pattern. What else two patterns have in common shows when a file refers to a
// repository that both match, see Config.Ambiguous.
func sameImage(a, b Component) bool {
	return a.Pattern.String() != "" && a.Pattern.Equal(b.Pattern)
}

// shared returns a version that both components of one repository follow; empty: none is known. An
// image is no chart, and their selections may exclude each other. Patterns name what they match by
// its repository, so they cannot share one.
func (c *Config) shared(a, b Component) string {
	kinds := []image.Artifact{a.Artifact, b.Artifact}
	first, second := c.policies[a.Name], c.policies[b.Name]
	switch {
	case !a.Pattern.IsExact():
		return "every version"
	case slices.Contains(kinds, image.ArtifactImage) && slices.Contains(kinds, image.ArtifactChart), first == nil, second == nil:
		return ""
	default:
		return image.Overlap(first, second)
	}
}

// checkSameImage refuses two components that both determine the version of an image in
// the same place.
func checkSameImage(in *input, c *Config) {
	for _, group := range c.index.groups() {
		for n, j := range group {
			for _, i := range group[:n] {
				a, b := c.Components[i], c.Components[j]
				if !in.compare(b.Position, 1+a.Only.size()*b.Only.size()) {
					return
				}
				if !sameImage(a, b) || !a.Only.overlaps(b.Only) {
					continue
				}
				if version := c.shared(a, b); version != "" {
					in.report.Errorf(b.Position, "remove one, or give them an only or a select that does not overlap",
						"%s and %s both match %s in the same place, and both select %s", a.Name, b.Name, b.Pattern, version)
				}
			}
		}
	}
}

// componentIndex finds components by repository.
type componentIndex struct {
	byName      map[string]int
	exact       map[image.Repository][]int // components without wildcards
	patterns    []int                      // components with wildcards
	templates   map[int]around             // components of a repository with {application}
	byComponent map[string]bool            // environments
	memberOf    map[string]string          // the application that lists a component
	restricted  bool                       // some application lists its components
	bareNames   bool                       // a repository that a pattern matches is named by its path only
}

func indexComponents(components []Component) componentIndex {
	index := componentIndex{
		byName: map[string]int{}, exact: map[image.Repository][]int{}, templates: map[int]around{}, byComponent: map[string]bool{},
	}
	hosts := map[string]bool{}
	for i, component := range components {
		index.byName[component.Name] = i
		if around, ok := component.aroundApplication(); ok && component.Template != "" {
			index.templates[i] = around
		}
		if repository, exact := component.Pattern.Repository(); exact {
			index.exact[repository] = append(index.exact[repository], i)
		} else if pattern := component.Pattern.String(); pattern != "" {
			index.patterns = append(index.patterns, i)
			host, _, _ := strings.Cut(pattern, "/")
			hosts[host] = true
		}
	}
	// A path identifies a repository when all patterns are of one registry.
	index.bareNames = len(hosts) <= 1
	for host := range hosts {
		index.bareNames = index.bareNames && !strings.Contains(host, "*")
	}
	return index
}

// groups returns the components that are compared with each other: those of one
// repository, and all patterns.
func (x componentIndex) groups() [][]int {
	groups := [][]int{x.patterns}
	for _, components := range x.exact {
		groups = append(groups, components)
	}
	return groups
}

// Match is the component that a repository belongs to.
type Match struct {
	Component string // as the config file names it
	// Name identifies the component in snapshots and pull requests. It is the name of
	// the component, or the path of the repository when a pattern matched.
	Name string
}

// Follow returns the component that a repository belongs to in an application of an
// environment. An exact name takes precedence over a pattern.
// Several components may follow one repository, see FollowAs: it returns the first.
func (c *Config) Follow(environment, application string, r image.Repository) (Match, bool) {
	for _, i := range c.index.candidates(r) {
		if c.follows(i, environment, application, r) {
			return c.match(i, r), true
		}
	}
	return Match{}, false
}

// FollowAs is Follow for a reference that belongs to a component, as snapshots name it: an image
// and a chart may be in one repository. Where no such component follows it, it is Follow.
func (c *Config) FollowAs(environment, application string, r image.Repository, name string) (Match, bool) {
	for _, i := range c.index.candidates(r) {
		if match := c.match(i, r); match.Name == name && c.follows(i, environment, application, r) {
			return match, true
		}
	}
	return c.Follow(environment, application, r)
}

// FollowAll returns all components that a repository may belong to in an application of an
// environment: of the versions in it, each may follow others.
func (c *Config) FollowAll(environment, application string, r image.Repository) (all []Match) {
	for _, i := range c.index.candidates(r) {
		if c.follows(i, environment, application, r) {
			all = append(all, c.match(i, r))
		}
	}
	return all
}

// match returns the match of a component with a repository.
func (c *Config) match(i int, r image.Repository) Match {
	match := Match{Component: c.Components[i].Name, Name: c.Components[i].Name}
	if !c.Components[i].Pattern.IsExact() {
		match.Name = c.nameOfMatched(r)
	}
	return match
}

// candidates returns the components that match a repository somewhere: first those that
// name it, and if none is used, those with wildcards.
func (x componentIndex) candidates(r image.Repository) []int {
	if len(x.patterns) == 0 {
		return x.exact[r]
	}
	return slices.Concat(x.exact[r], x.patterns)
}

// Ambiguous returns two components whose patterns both match a repository in an
// application of an environment, so that its version is not determined.
func (c *Config) Ambiguous(environment, application string, r image.Repository) (first, second string, ambiguous bool) {
	if len(c.index.patterns) < 2 {
		return "", "", false
	}
	match, _ := c.Follow(environment, application, r)
	if match.Component == "" || c.Components[c.index.byName[match.Component]].Pattern.IsExact() {
		return "", "", false
	}
	for _, i := range c.index.patterns {
		other := c.Components[i]
		if other.Name != match.Component && c.follows(i, environment, application, r) {
			return match.Component, other.Name, true
		}
	}
	return "", "", false
}

// follows reports whether a component follows the repository in an application of an
// environment.
func (c *Config) follows(i int, environment, application string, r image.Repository) bool {
	if !c.Components[i].Pattern.Match(r) || !c.used(i, environment, application) {
		return false
	}
	if around, perApplication := c.index.templates[i]; perApplication && around.application(r) != application {
		return false
	}
	return !c.index.byComponent[environment] || c.applicationOf(i, r) == application
}

// application returns the name of the application that the repository is of.
func (a around) application(r image.Repository) string {
	captured := strings.TrimSuffix(strings.TrimPrefix(r.String(), a.before), a.after)
	return field.NameOf(captured, captured)
}

// used reports whether a component is used in an application of an environment.
func (c *Config) used(i int, environment, application string) bool {
	if !c.Components[i].Only.allows(environment, application) {
		return false
	}
	if !c.index.restricted {
		return true
	}
	for _, layer := range slices.Backward(c.layers) {
		if members := layer.raw.Components; members.IsSet() && layer.matches(application) {
			return len(members.Items) == 0 || slices.ContainsFunc(members.Items, func(m strictyaml.Located[string]) bool {
				return m.Value == c.Components[i].Name
			})
		}
	}
	return true
}

// nameOfMatched names a repository that a pattern matched: by its path where that is a
// name and no other component has it, else by the slug of its path and a hash of its
// full name.
func (c *Config) nameOfMatched(r image.Repository) string {
	if _, taken := c.index.byName[r.Path()]; taken || !c.index.bareNames {
		return field.HashedName(r.Path(), r.String())
	}
	return field.NameOf(r.Path(), r.String())
}

// Component returns a component by its name in the file.
func (c *Config) Component(name string) (Component, bool) {
	i, found := c.index.byName[name]
	if !found {
		return Component{}, false
	}
	return c.Components[i], true
}

// Policy returns the compiled selection of a component, or nil.
func (c *Config) Policy(component string) *image.Policy { return c.policies[component] }

// componentsIn returns the indices of the components that are used in an environment.
func componentsIn(c *Config, environment string) []int {
	var used []int
	for i, component := range c.Components {
		if component.Only.allowsEnvironment(environment) {
			used = append(used, i)
		}
	}
	return used
}

// checkPolls limits how many different polls a file has.
func checkPolls(in *input, components []Component) {
	seen := map[string]bool{}
	for i, component := range components {
		if name := component.Poll.String(); name != "" {
			seen[name] = true
		}
		if len(seen) > maxPolls {
			in.report.Errorf(in.raw.Components.Entries[i].Value.Poll.Position, "let components share their polls",
				"the components have more than %d different polls", maxPolls)
			return
		}
	}
}

// maxPolls is how many different polls the components of one file may have: each is
// scheduled on its own.
const maxPolls = 20
