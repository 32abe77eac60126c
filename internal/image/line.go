package image

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Line is the line of versions of one component. A repository may have several, such as
// PostgreSQL 15 and 16, 1.4.0 and 1.4.0-alpine, or master and alpine: a component moves only
// the tags of its own.
type Line struct {
	Policy *Policy
	Others map[string]*Policy // other components of the same repository, by name
	// Selected is the tag of the selected version, which has the suffix and the number of parts of
	// the line. Empty: it is not known, and the tags in the files decide.
	Selected string
	Pinned   bool // all references have a digest, so that even the name of a floating tag is one version
}

// Foreign returns the tags that are of another line, each with the reason. tags are those of all
// references to the repository in one target. In this order, a tag is of another line if another
// component selects it, if it is the name of a floating tag, if its suffix or number of parts
// differs from the selected one, and if it is above the range. A tag below the range is of the line, so that a
// raised range moves the files, unless another one is in the range and this one has another major version.
// The only tag may be above the range, or that of a build: a user chose it.
func (l Line) Foreign(tags []string) map[string]string {
	foreign := map[string]string{}
	var own []member
	tags = slices.Compact(slices.Sorted(slices.Values(tags)))
	tags = slices.DeleteFunc(tags, func(tag string) bool { return tag == "" }) // only a digest
	for _, tag := range tags {
		if why := l.excludes(tag); why != "" {
			if len(tags) > 1 || !l.Pinned && !isBuildTag(tag) || l.selectedByOther(tag) != "" {
				foreign[tag] = why
			}
		} else if m := l.member(tag); m.ordered {
			own = append(own, m)
		}
	}
	selected, known := l.selected(own)
	own = slices.DeleteFunc(own, func(m member) bool {
		if known && m.shape != selected {
			foreign[m.tag] = m.shape.differs(selected)
		}
		return foreign[m.tag] != ""
	})
	own = slices.DeleteFunc(own, func(m member) bool {
		if m.place == above && len(tags) > 1 {
			foreign[m.tag] = "it is above the range"
		}
		return m.place == above
	})
	for _, m := range own {
		i := slices.IndexFunc(own, func(other member) bool { return other.place == within && other.major != m.major })
		if m.place == below && i >= 0 {
			foreign[m.tag] = "it is below the range, and " + own[i].tag + " is within"
		}
	}
	return foreign
}

// OtherForm returns how the form of a tag differs from that of a selected one: its suffix, or its number of
// parts. Empty: it does not, or the policy orders no versions.
func (p *Policy) OtherForm(tag, selected string) string {
	a, isVersion := shapeOf(tag)
	b, known := shapeOf(selected)
	if p.strategy != bySemver && p.strategy != byRelease || !isVersion || !known || a == b {
		return ""
	}
	return a.differs(b)
}

// isBuildTag reports whether a tag names one build, and is neither the name of a floating tag nor a version. Where it
// is the only one, a user promoted or wrote it: it is of the component.
func isBuildTag(tag string) bool {
	return !word.MatchString(tag) && !startsWithVersion.MatchString(tag)
}

// selectedByOther returns which other component selects a tag.
func (l Line) selectedByOther(tag string) string {
	for name, other := range l.Others {
		if other.Admits(tag) && !l.Policy.Admits(tag) {
			return name + " selects it"
		}
	}
	return ""
}

// excludes returns why a tag cannot be of the line, whatever else there is.
func (l Line) excludes(tag string) string {
	if why := l.selectedByOther(tag); why != "" {
		return why
	}
	p := l.Policy
	_, matches := p.compared(tag)
	switch _, isVersion := shapeOf(tag); p.strategy {
	case byTag:
		if tag != p.value {
			return "it is another tag"
		}
	case byRelease:
		if !isVersion {
			return "it is a floating tag"
		}
	case bySemver:
		_, ok := p.version(tag)
		switch {
		case ok:
		case p.filter == nil && isVersion:
			return "only a filter selects this form"
		case p.filter != nil && !matches:
			return "select.filter does not match it"
		default:
			return "it is no version"
		}
	default:
		// A build that the expression does not match may be one that an earlier expression selected.
		if !matches && (word.MatchString(tag) || dottedNumbers.MatchString(tag)) {
			return "select." + string(p.strategy) + " does not match it"
		}
	}
	return ""
}

var (
	word          = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]*$`)
	dottedNumbers = regexp.MustCompile(`^v?[0-9]+\.[0-9]+`)
)

// version reads the version of a tag. A filter need not match what is only of prereleases, because these become
// releases.
func (p *Policy) version(tag string) (version, bool) {
	if found, ok := p.read(tag); ok {
		return found.version, true
	}
	if core := versionCore.FindString(tag); core != "" {
		if shape, ok := shapeOf(tag); ok && shape.suffix == "" {
			found, ok := p.read(core)
			return found.version, ok
		}
	}
	return version{}, false
}

var versionCore = regexp.MustCompile(`^v?[0-9]+(?:\.[0-9]+)*`)

// place is where a version is in relation to a range.
type place int

const (
	within place = iota
	below        // or between parts of the range
	above
)

// member is a tag that may be of the line.
type member struct {
	tag     string
	shape   shape
	place   place
	major   uint64
	ordered bool // the policy orders tags by what they have
	version version
}

func (l Line) member(tag string) member {
	m := member{tag: tag}
	m.shape, m.ordered = shapeOf(tag)
	switch l.Policy.strategy {
	case bySemver:
		m.version, _ = l.Policy.version(tag)
		m.major, m.ordered = m.version.numbers[0], true
		m.place = l.Policy.place(m.version)
	case byRelease:
	default:
		m.ordered = false
	}
	return m
}

// selected returns the suffix and the number of parts of the line: those of the selected tag. Of
// several in the files, those without a suffix come first, and of these the ones with most
// parts, as semantic versioning prefers them.
func (l Line) selected(own []member) (shape, bool) {
	if s, ok := shapeOf(l.Selected); ok {
		return s, l.Policy.strategy == bySemver || l.Policy.strategy == byRelease
	}
	plain := l.Policy.strategy == bySemver && l.Policy.filter == nil && !prereleaseBound.MatchString(l.Policy.value)
	if len(own) == 0 {
		return shape{}, false
	}
	best := slices.MinFunc(own, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.place, b.place), strings.Compare(a.shape.suffix, b.shape.suffix),
			cmp.Compare(b.shape.parts, a.shape.parts), b.version.compare(a.version))
	})
	if plain { // the range selects no suffix
		best.shape.suffix = ""
	}
	return best.shape, true
}

// prereleaseBound matches a range that names a prerelease.
var prereleaseBound = regexp.MustCompile(`[0-9xX*]-[0-9A-Za-z]`)

// place returns where a version is. A prerelease is where its release is.
func (p *Policy) place(v version) place {
	release := v
	release.pre = ""
	if p.inRange(v) || p.inRange(release) {
		return within
	}
	if slices.ContainsFunc(boundsOf(p.value), func(s *semver.Version) bool {
		return p.within.Check(s) && s.GreaterThan(release.semver())
	}) {
		return below
	}
	return above
}

// lowest returns the lowest version of the range that its text names, or that follows one.
func (p *Policy) lowest() *semver.Version {
	var lowest *semver.Version
	if p.strategy != bySemver {
		return nil
	}
	for _, s := range boundsOf(p.value) {
		if p.within.Check(s) && (lowest == nil || s.LessThan(lowest)) {
			lowest = s
		}
	}
	return lowest
}

// boundsOf returns the versions in the text of a range, and those that follow them.
func boundsOf(text string) (all []*semver.Version) {
	numbers, prereleases, known := samples(text)
	if !known {
		return nil
	}
	for _, v := range numbers {
		for _, pre := range prereleases {
			all = append(all, semver.New(v[0], v[1], v[2], pre, ""))
		}
	}
	return all
}

// Nearest returns which of the policies, of components of one repository, a tag in files belongs
// to: the one that admits it, or else the lowest range above it, or else the first.
func Nearest(tag string, policies []*Policy) int {
	nearest := -1
	for i, p := range policies {
		if p.Admits(tag) {
			return i
		}
		v, ok := version{}, false
		if p.strategy == bySemver {
			v, ok = p.version(tag)
		}
		if ok && p.place(v) == below && (nearest < 0 || p.lowest().LessThan(policies[nearest].lowest())) {
			nearest = i
		}
	}
	return max(nearest, 0)
}

// Overlap returns a tag that two policies certainly both admit; empty: none is known.
func Overlap(a, b *Policy) string {
	for _, p := range []*Policy{a, b} {
		tags := []string{p.value}
		if p.strategy == bySemver {
			for _, s := range boundsOf(p.value) {
				tags = append(tags, s.String(), "v"+s.String())
			}
		}
		for _, tag := range tags {
			if p.strategy != byRelease && a.Admits(tag) && b.Admits(tag) {
				return tag
			}
		}
	}
	if a.strategy == b.strategy && a.value == b.value && a.filterText() == b.filterText() {
		return a.value
	}
	return ""
}

func (p *Policy) filterText() string {
	if p.filter == nil {
		return ""
	}
	return p.filter.String()
}

// String returns what is selected, as in "^16".
func (p *Policy) String() string {
	text := p.value
	if p.strategy != bySemver {
		text = string(p.strategy) + " " + text
	} else if p.filter != nil {
		text += ", filter " + p.filterText()
	}
	return text
}

// shape is what the tags of one line have in common: the variant after the numbers, and how many
// numbers there are.
type shape struct {
	parts  int
	suffix string // without numbers and what prereleases and builds have
}

var numbered = regexp.MustCompile(`^((?:[A-Za-z][A-Za-z0-9]*[-_])*)[vV]?([0-9]+(?:\.[0-9]+)*)(?:[-_+.]?(.*))$`)

// shapeOf returns the shape of a tag that has a version, such as 1.4.0-alpine3.20.
func shapeOf(tag string) (shape, bool) {
	m := numbered.FindStringSubmatch(tag)
	if m == nil {
		return shape{}, false
	}
	suffix, _, _ := strings.Cut(m[3], "+")
	var names []string
	for _, item := range strings.FieldsFunc(suffix, func(r rune) bool { return r == '-' || r == '_' }) {
		for i, identifier := range strings.Split(item, ".") {
			name := digits.ReplaceAllString(strings.ToLower(identifier), "")
			if i == 0 && name != "" && isBuild(name, identifier) {
				break // what follows in SNAPSHOT.main.12 is of the same prerelease
			}
			if !isBuild(name, identifier) {
				names = append(names, name)
			}
		}
	}
	return shape{parts: strings.Count(m[2], ".") + 1, suffix: m[1] + strings.Join(names, "-")}, true
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	commit = regexp.MustCompile(`^g?[0-9a-f]{7,40}$`)
)

// builds are words that distinguish prereleases and builds of one variant, and no variants.
var builds = []string{
	"", "a", "alpha", "b", "beta", "build", "canary", "cr", "dev", "ea", "final", "ga", "hotfix", "m", "milestone", "next", "nightly",
	"p", "patch", "post", "pre", "preview", "r", "rc", "release", "rev", "snapshot", "sp",
}

func isBuild(name, item string) bool {
	return slices.Contains(builds, name) || commit.MatchString(item)
}

// differs describes how a tag of the shape differs from a selected one.
func (s shape) differs(selected shape) string {
	if s.suffix != selected.suffix {
		return "it has another suffix than the selected version"
	}
	return "it has another number of parts than the selected version"
}
