package config

import (
	"errors"
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/glob"
	"promoter/internal/strictyaml"
)

// Environment is one location in Git that versions are promoted to.
// Config.Environments has it as written in the file, Config.Settings as it applies to
// one application.
type Environment struct {
	Position
	Name        string
	Title       string
	Branch      string   // empty: the default branch
	Paths       []string // patterns; nil: the whole tree
	Exclude     []string // patterns, in addition to the default excludes
	Write       []Write
	Labels      map[string]string
	ByComponent bool // each component is an application of its own
	// RefusesMentions is set if a text that names a followed image stops its component unless it is edited.
	RefusesMentions bool

	setting.Settings

	match   *matcher
	mirrors []mirror // longest prefix first
}

// rawEnvironment is an environment: files in Git that versions are promoted to.
type rawEnvironment struct {
	setting.RawOverride
	// Display name, in titles of pull requests and on pages. Commands, URLs, and the placeholder `{environment}` have the name.
	// Default: the name.
	Title strictyaml.Located[string] `yaml:"title"`
	// Branch that has the files, and none that begins with `promoter/`. Set it in all environments or in none. Default: the default branch.
	Branch strictyaml.Located[string] `yaml:"branch"`
	// Globs of the files of the environment; a folder includes everything below it. `{application}` captures the
	// application. See docs/configuration.md#paths. Default: the whole tree.
	Paths strictyaml.List `yaml:"paths"`
	// What an application is, for files with several applications. See docs/configuration.md#applications-in-one-file.
	Applications *rawDivision `yaml:"applications"`
	// Globs of files that promoter leaves unchanged, in addition to the default excludes. See docs/configuration.md#paths.
	Exclude strictyaml.List `yaml:"exclude"`
	// Values that promoter does not find by itself. See docs/configuration.md#write.
	Write []*rawWrite `yaml:"write"`
	// Labels for metrics and filters, at most 20. They do not affect decisions.
	Labels strictyaml.Map[strictyaml.Located[string]] `yaml:"labels"`

	// Repositories that the files name instead of those that components follow: `HOST/PATH: HOST/PATH`, the
	// followed one first. Each is of all repositories below it. See docs/guides/mirrors.md.
	Mirrors strictyaml.Map[strictyaml.Located[string]] `yaml:"mirrors"`

	// The same for one environment. Default: that of the file.
	Mentions strictyaml.Located[string] `yaml:"mentions" values:"list refuse"`

	Repository strictyaml.Reserved `yaml:"repository"`
	Verify     strictyaml.Reserved `yaml:"verify"`
}

// rawDivision is how an environment is divided into applications.
type rawDivision struct {
	strictyaml.Origin
	// `path`: the path of a file captures its application, or all files are one. `component`: each component is an
	// application of its own, wherever its references are.
	By strictyaml.Located[string] `yaml:"by" values:"path component" required:"true"`
}

const byComponent = "component"

// loadEnvironments reads what is the same for all applications.
func loadEnvironments(in *input) []Environment {
	var environments []Environment
	for _, e := range in.raw.Environments.Entries {
		environment := Environment{Position: e.Key.Position, Name: e.Key.Value}
		if raw := e.Value; !raw.Invalid {
			environment.Title = raw.Title.Value
			environment.Branch = raw.Branch.Value
			environment.Paths = raw.Paths.Strings()
			environment.Exclude = raw.Exclude.Strings()
			environment.Labels = field.Labels(in.report, raw.Labels)
			environment.match = loadMatcher(in, e.Key.Value, raw)
			environment.mirrors = loadMirrors(in.report, raw.Mirrors)
			environment.RefusesMentions = raw.Mentions.Or(in.raw.Mentions.Value) == refuseMentions
			environment.ByComponent = raw.Applications != nil && raw.Applications.By.Value == byComponent
			in.captures = in.captures || environment.match.captures() || environment.ByComponent
			if raw.Branch.Valid() && !validBranch(raw.Branch.Value) {
				in.report.Errorf(raw.Branch.Position, "write the name without refs/heads/",
					"%q is not a valid branch name", raw.Branch.Value)
			} else if raw.Branch.Valid() && strings.HasPrefix(strings.ToLower(raw.Branch.Value), ownBranches) {
				in.report.Errorf(raw.Branch.Position, "name the branch that is deployed",
					"%q is a branch of promoter's own", raw.Branch.Value)
			}
		}
		environments = append(environments, environment)
	}
	if in.captures {
		checkCaptures(in)
	}
	return environments
}

func loadMatcher(in *input, name string, raw *rawEnvironment) *matcher {
	in.report.ErrorIf(raw.Paths.IsEmpty(), raw.Paths.Position, "remove paths for the whole tree",
		"paths is an empty list, which matches nothing")
	m := newMatcher(parsePaths(in.report, raw.Paths), nil)
	for _, exclude := range parsePaths(in.report, raw.Exclude) {
		if exclude.Captures() {
			i := slices.IndexFunc(raw.Exclude.Items, func(item strictyaml.Located[string]) bool { return item.Value == exclude.String() })
			in.report.Errorf(raw.Exclude.Items[i].Position, "write * for it", "exclude cannot capture {application}")
			continue
		}
		m.excludes = append(m.excludes, exclude)
	}
	// All files are excluded when each sample of each path is.
	for _, path := range m.patterns() {
		if !in.compare(raw.Exclude.Position, len(m.excludes)) || slices.ContainsFunc(path.Samples(), func(file string) bool {
			return !m.excluded(file)
		}) {
			return m
		}
	}
	in.report.Errorf(raw.Exclude.Position, "narrow exclude", "exclude matches all files of %s", name)
	return m
}

func parsePaths(report *strictyaml.Report, texts strictyaml.List) []*glob.Path {
	var paths []*glob.Path
	for _, text := range texts.Items {
		if !text.Valid() {
			continue
		}
		path, err := glob.ParsePath(text.Value)
		if invalid := (*glob.Error)(nil); errors.As(err, &invalid) {
			report.Errorf(text.Position, invalid.Hint, "%q: %s", text.Value, invalid.Message)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// ownBranches is the prefix, in lower case, of the branches of pull requests and of the
// state branch. Some forges do not distinguish case.
const ownBranches = "promoter/"

// validBranch checks a name by the rules that matter for branches on forges.
// https://git-scm.com/docs/git-check-ref-format
func validBranch(s string) bool {
	switch {
	case s == "", s == "@", len(s) > 200,
		strings.HasPrefix(s, "-"), strings.HasPrefix(s, "refs/"),
		strings.ContainsAny(s, " ~^:?*[\\\x7f"), strings.Contains(s, ".."), strings.Contains(s, "@{"):
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || segment[0] == '.' || strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

// checkCaptures requires that all environments name applications when one does: otherwise
// an application of one environment would never be found in another.
func checkCaptures(in *input) {
	const hint = "write {application} into every path of every environment, or into none; applications: {by: component} is " +
		"for files with several applications"
	for _, e := range in.raw.Environments.Entries {
		division := e.Value.Applications
		switch {
		case e.Value.Invalid, division != nil && division.Invalid:
		case division != nil && division.By.Value == byComponent:
			for _, path := range e.Value.Paths.Items {
				captures := strings.Contains(path.Value, glob.Application)
				in.report.ErrorIf(captures, path.Position, "write * for it, or remove applications",
					"applications are divided by component, but this path captures {application}")
			}
		case !e.Value.Paths.IsSet():
			in.report.Errorf(e.Key.Position, hint,
				"other environments capture {application} from their paths, but %s has no paths", e.Key.Value)
		default:
			for _, path := range e.Value.Paths.Items {
				in.report.ErrorIf(path.Valid() && !strings.Contains(path.Value, glob.Application), path.Position, hint,
					"other paths capture {application}, but this one does not")
			}
		}
	}
}

// checkOverlaps refuses two environments that certainly write the same value: they are
// on one branch, have a file in common, and use the same image. Other overlaps show when
// a reference belongs to both; the reference is then refused.
func checkOverlaps(in *input, c *Config) {
	samples := make([][]sample, len(c.Environments))
	for i, e := range c.Environments {
		// Without a path that could not be parsed, the environment may seem to be the whole tree.
		if e.match == nil || len(e.match.paths) < len(e.Paths) || !writes(c, &e) {
			continue
		}
		for n, path := range e.match.patterns() {
			for _, file := range path.Samples() {
				if _, matched := e.Match(file); matched {
					samples[i] = append(samples[i], sample{file, path, n})
				}
			}
		}
	}
	for j := range c.Environments {
		for i := range j {
			a, b := &c.Environments[i], &c.Environments[j]
			if !in.compare(b.Position, 1) {
				return
			}
			if a.Branch == b.Branch && len(samples[i]) > 0 && len(samples[j]) > 0 {
				checkOverlap(in, c, a, b, samples[i], samples[j], in.raw.Environments.Entries[j].Value)
			}
		}
	}
}

// sample is a file that an environment certainly writes.
type sample struct {
	file string
	path *glob.Path
	n    int // index of the path
}

func checkOverlap(in *input, c *Config, a, b *Environment, ofA, ofB []sample, raw *rawEnvironment) {
	report := func(p, q *glob.Path, n int) {
		if !shareImage(in, c, a, b) {
			return
		}
		where := b.Position
		if n < len(raw.Paths.Items) {
			where = raw.Paths.Items[n].Position
		}
		in.report.Errorf(where, "narrow paths, add exclude, or use another branch",
			"%s and %s write the same files: %s and %s", a.Name, b.Name, describe(p), describe(q))
	}
	cost := func(samples []sample, e *Environment) int {
		return len(samples) * (len(e.match.patterns()) + len(e.match.excludes))
	}
	if !in.compare(b.Position, cost(ofA, b)+cost(ofB, a)) {
		return
	}
	for _, s := range ofA {
		if _, both := b.Match(s.file); both {
			q, n := b.match.pathOf(s.file)
			report(s.path, q, n)
			return
		}
	}
	for _, s := range ofB {
		if _, both := a.Match(s.file); both {
			p, _ := a.match.pathOf(s.file)
			report(p, s.path, s.n)
			return
		}
	}
}

// pathOf returns the first path that matches a file.
func (m *matcher) pathOf(file string) (path *glob.Path, index int) {
	for i, path := range m.patterns() {
		if _, ok := path.Match(file); ok {
			return path, i
		}
	}
	return wholeTree, 0
}

func describe(p *glob.Path) string {
	if p == wholeTree {
		return "the whole tree"
	}
	return p.String()
}

// writes returns false for an environment that is only observed.
func writes(c *Config, e *Environment) bool {
	return e.Propose != setting.ProposeNever || slices.ContainsFunc(c.layers, func(l layer) bool {
		over := l.overrides[e.Name]
		return over != nil && over.Propose.IsSet() && over.Propose.Value != string(setting.ProposeNever)
	})
}

// shareImage reports whether both environments use the same component, or components
// of the same image.
func shareImage(in *input, c *Config, a, b *Environment) bool {
	left, right := componentsIn(c, a.Name), componentsIn(c, b.Name)
	if !in.compare(b.Position, len(c.Components)+len(left)*len(right)) {
		return false
	}
	for _, i := range left {
		for _, j := range right {
			x, y := c.Components[i], c.Components[j]
			repository, exact := x.Pattern.Repository()
			other, otherExact := y.Pattern.Repository()
			if i == j || sameImage(x, y) || exact && y.Pattern.Match(repository) || otherExact && x.Pattern.Match(other) {
				return true
			}
		}
	}
	return false
}

// DefaultExcludes are left unchanged in every environment: they configure forges and
// pipelines, or are vendored. One does not apply to a path that names its folder
// itself, such as .gitlab/agents/dev.
func DefaultExcludes() []string {
	return []string{
		".github/**", ".gitlab-ci.yml", ".gitlab/**", ".gitea/**", ".forgejo/**", "vendor/**", "node_modules/**",
	}
}

// matcher decides which files belong to an environment.
type matcher struct {
	paths    []*glob.Path // none: the whole tree
	excludes []*glob.Path
	defaults []string // top-level names of the default excludes
}

func newMatcher(paths, excludes []*glob.Path) *matcher {
	m := &matcher{paths: paths, excludes: excludes}
	for _, exclude := range DefaultExcludes() {
		m.defaults = append(m.defaults, strings.TrimSuffix(exclude, "/**"))
	}
	return m
}

// wholeTree is the pattern of an environment without paths.
var wholeTree = func() *glob.Path {
	path, err := glob.ParsePath("**")
	if err != nil {
		panic(err)
	}
	return path
}()

func (m *matcher) patterns() []*glob.Path {
	if len(m.paths) == 0 {
		return []*glob.Path{wholeTree}
	}
	return m.paths
}

func (m *matcher) captures() bool { return slices.ContainsFunc(m.paths, (*glob.Path).Captures) }

// Captures reports whether the environments distinguish applications, by {application} in
// their paths.
func (c *Config) Captures() bool {
	return slices.ContainsFunc(c.Environments, func(e Environment) bool { return e.match != nil && e.match.captures() })
}

func (m *matcher) excluded(file string) bool {
	for _, exclude := range m.excludes {
		if _, ok := exclude.Match(file); ok {
			return true
		}
	}
	return false
}

// Match reports whether a file, by its path from the root of the branch, belongs to the
// environment, and to which application. The first matching path decides. In an
// environment by component, the application is empty: it depends on the reference.
func (e *Environment) Match(file string) (application string, ok bool) {
	captured, ok := e.Capture(file)
	switch {
	case !ok, e.ByComponent:
		return "", ok
	case captured == "":
		return DefaultApplication, true
	default:
		return field.NameOf(captured, captured), true
	}
}

// prefixCost is how many steps it takes to compare a file with a pattern that begins otherwise.
const prefixCost = 4

// MatchCost returns about how many steps it takes to match a file: its bytes for each pattern that may match it.
// Exclusions are compared only in the paths of the environment.
func (e *Environment) MatchCost(file string) (steps int64) {
	if e.match == nil {
		return 0
	}
	may := len(e.match.paths) == 0
	for _, path := range e.match.paths {
		if steps += prefixCost; path.MayMatch(file) {
			steps += int64(len(file))
			may = true
		}
	}
	if may {
		steps += int64(len(file) * len(e.match.excludes))
	}
	return steps
}

// Excludes reports whether the config keeps a file out of the environment, by exclude.
func (e *Environment) Excludes(file string) bool { return e.match != nil && e.match.excluded(file) }

// Capture is like Match, but returns the text that the path captures, from which the name
// of the application is made; empty if the path captures none.
func (e *Environment) Capture(file string) (text string, ok bool) {
	m := e.match
	if m == nil {
		return "", true
	}
	top, _, _ := strings.Cut(file, "/")
	byDefault := slices.Contains(m.defaults, top)
	captured, included := "", len(m.paths) == 0 && !byDefault
	for _, path := range m.paths {
		if byDefault && !path.StartsIn(top) {
			continue
		}
		if captured, included = path.Match(file); included {
			break
		}
	}
	if !included || m.excluded(file) {
		return "", false
	}
	return captured, true
}

// Environment returns the environment of that name, as written in the file.
func (c *Config) Environment(name string) (*Environment, bool) {
	for i := range c.Environments { // by index: an Environment is large
		if c.Environments[i].Name == name {
			return &c.Environments[i], true
		}
	}
	return nil, false
}
