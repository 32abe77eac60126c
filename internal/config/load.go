package config

import (
	"crypto/sha256"

	"promoter/internal/image"
)

// formatVersion is the only version of both files.
const formatVersion = 1

// maxChecks bounds the comparisons of loading: patterns of components, paths of
// environments, settings per application. It keeps a file that was made to be
// slow under about a second.
const maxChecks = 1_000_000

// Load reads a .promoter.yaml; file is the name that problems carry. The Config
// is nil when there is a problem that is an error.
func Load(file string, data []byte) (*Config, Problems) {
	problems := &collector{}
	root := parse(file, data, problems)
	if root == nil {
		return nil, problems.problems()
	}
	l := &loader{collector: problems, checks: maxChecks, config: &Config{
		File: file, source: sha256.Sum256(data), policies: map[string]*image.Policy{}, exact: map[image.Repository][]int{},
	}}
	if newDecoder(file, problems).whole(root, &l.raw) {
		l.load()
	}
	if problems.failed() {
		return nil, problems.problems()
	}
	return l.config, problems.problems()
}

// loader turns the raw file into a Config, one rule group per file.
type loader struct {
	*collector
	raw     rawConfig
	config  *Config
	checks  int // how many comparisons are left
	tooMany bool

	componentNames, environmentNames, windowNames nameSet
}

// load runs the rule groups. Later groups look names up in what earlier ones
// made, and every group goes on after a problem.
func (l *loader) load() {
	l.version(l.raw.Version, l.raw.place)
	if !l.names() {
		return
	}
	l.config.byName = l.componentNames.index
	for _, group := range []func(){
		l.windows, l.environments, l.components, l.only, l.applications,
		l.graph, l.settings, l.writes, l.sameImage, l.overlaps, l.unused,
	} {
		group()
	}
}

func (c *collector) version(version at[int], file place) {
	switch {
	case !version.set():
		c.failf(file.Position, "write version: 1 at the top", "the key version is missing")
	case version.ok() && version.Value != formatVersion:
		c.failf(version.Position, "write version: 1, or use a newer promoter", "version %d is not known to this promoter", version.Value)
	}
}

// Limits of how many things one file may name. They keep what is compared pair by
// pair, and what is drawn on one page, within bounds.
const (
	maxComponents   = 2000
	maxApplications = 2000
	maxEnvironments = 500
	maxWindows      = 500
)

// names checks every name that the file gives to something. It is false when
// there are too many to go on.
func (l *loader) names() bool {
	l.componentNames = newNameSet(l.raw.Components.names())
	l.environmentNames = newNameSet(l.raw.Environments.names())
	l.windowNames = newNameSet(l.raw.Windows.names())
	l.validNames("component", l.raw.Components.names())
	l.validNames("environment", l.raw.Environments.names())
	l.validNames("window", l.raw.Windows.names())
	l.atLeastOne("components", l.raw.Components.place, len(l.raw.Components.Entries))
	l.atLeastOne("environments", l.raw.Environments.place, len(l.raw.Environments.Entries))
	few := l.atMost("components", l.raw.Components.place, len(l.raw.Components.Entries), maxComponents)
	few = l.atMost("applications", l.raw.Applications.place, len(l.raw.Applications.Entries), maxApplications) && few
	few = l.atMost("environments", l.raw.Environments.place, len(l.raw.Environments.Entries), maxEnvironments) && few
	return l.atMost("windows", l.raw.Windows.place, len(l.raw.Windows.Entries), maxWindows) && few
}

func (l *loader) atLeastOne(what string, p place, count int) {
	if count == 0 && !p.bad {
		l.failf(orPlace(p, l.raw.place), "see docs/configuration.md", "there are no %s", what)
	}
}

func (l *loader) atMost(what string, p place, count, limit int) bool {
	if count > limit {
		l.failf(p.Position, "use patterns, or split the repository", "there are %d %s, more than %d", count, what, limit)
	}
	return count <= limit
}

// nameSet is names that others may refer to.
type nameSet struct {
	list  []string
	index map[string]int
}

func newNameSet(names []at[string]) nameSet {
	set := nameSet{index: make(map[string]int, len(names))}
	for i, name := range names {
		set.list = append(set.list, name.Value)
		set.index[name.Value] = i
	}
	return set
}

func (s nameSet) has(name string) bool {
	_, ok := s.index[name]
	return ok
}

func (c *collector) validNames(what string, names []at[string]) {
	for _, name := range names {
		if !ValidName(name.Value) {
			c.failf(name.Position, "use "+nameGrammar, "%q cannot name %s %s", name.Value, article(what), what)
		}
	}
}

func article(noun string) string {
	switch noun[0] {
	case 'a', 'e', 'i', 'o', 'u':
		return "an"
	}
	return "a"
}

// orPlace returns the position of a value, or where it would have to stand.
func orPlace(p, otherwise place) Position {
	if p.set() {
		return p.Position
	}
	return otherwise.Position
}

// compare counts comparisons; false means that the file asks for too many.
func (l *loader) compare(where Position, count int) bool {
	if l.checks -= count; l.checks >= 0 {
		return true
	}
	if !l.tooMany {
		l.tooMany = true
		l.failf(where, "use fewer paths, patterns, names under only, and application globs", "the file needs more than %d comparisons", maxChecks)
	}
	return false
}

// known reports a name that is not in the set.
func (c *collector) known(what string, name at[string], set nameSet) bool {
	if !name.ok() {
		return false
	}
	if !set.has(name.Value) {
		c.failf(name.Position, didYouMean(name.Value, set.list), "there is no %s %q", what, name.Value)
		return false
	}
	return true
}
