package image

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/Masterminds/semver/v3"

	"promoter/internal/printable"
)

// Selection selects which tags of a repository are versions and how they are ordered.
// Exactly one of the first six fields is set.
type Selection struct {
	Semver       string // range; a prerelease matches only if the range names one, and <2 excludes those of 2.0.0
	Tag          string // name of a moving tag
	Newest       string // regular expression; ordered by created time
	Numeric      string // regular expression; ordered as numbers
	Alphabetical string // regular expression; ordered as bytes
	Release      string // FORGE/OWNER/REPO

	Chart   bool     // the tags are those of a Helm chart; only with Semver
	Filter  string   // regular expression; only with Semver
	Exclude []string // regular expressions
}

// strategy is one of the six ways to select.
type strategy string

const (
	bySemver       strategy = "semver"
	byTag          strategy = "tag"
	byNewest       strategy = "newest"
	byNumeric      strategy = "numeric"
	byAlphabetical strategy = "alphabetical"
	byRelease      strategy = "release"
)

// maxExpression bounds ranges and regular expressions, in bytes. Go's take linear time,
// so only their length needs a bound.
const maxExpression = 1024

// versionGroup is the named group of a regular expression that is compared. Without one
// the whole tag is.
const versionGroup = "version"

// Policy orders the tags of a repository. It is immutable and safe for concurrent use.
//
// The order is total: two different tags are never equal. The same set of tags gives the
// same result whatever the registry's order, and a file never alternates between two
// spellings of one version.
type Policy struct {
	strategy strategy
	value    string
	within   *semver.Constraints // only semver
	parts    []part              // of a range with an upper bound
	chart    bool                // an underscore stands for a plus; only semver
	filter   *regexp.Regexp      // what a tag must match; nil: anything
	exclude  []*regexp.Regexp
	steps    int64 // instructions of all compiled expressions
}

// NewPolicy compiles a selection.
func NewPolicy(s Selection) (*Policy, error) {
	p := &Policy{chart: s.Chart}
	for _, candidate := range []struct {
		strategy strategy
		value    string
	}{
		{bySemver, s.Semver},
		{byTag, s.Tag},
		{byNewest, s.Newest},
		{byNumeric, s.Numeric},
		{byAlphabetical, s.Alphabetical},
		{byRelease, s.Release},
	} {
		if candidate.value == "" {
			continue
		}
		if p.strategy != "" {
			return nil, fmt.Errorf("both %s and %s are set: keep one", p.strategy, candidate.strategy)
		}
		p.strategy, p.value = candidate.strategy, candidate.value
	}
	var err error
	switch p.strategy {
	case "":
		return nil, errors.New("nothing is selected: set one of semver, tag, newest, numeric, alphabetical, release")
	case bySemver:
		p.within, err = compileRange(p.value)
		p.parts = partsOf(p.value)
	case byTag:
		if !ValidTag(p.value) {
			err = errTag
		}
	case byRelease:
		err = checkRelease(p.value)
	default:
		p.filter, err = compileExpression(p.value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.strategy, err)
	}
	if s.Filter != "" {
		if p.strategy != bySemver {
			return nil, fmt.Errorf("filter: it is only for semver, not for %s", p.strategy)
		}
		if p.filter, err = compileExpression(s.Filter); err != nil {
			return nil, fmt.Errorf("filter: %w", err)
		}
	}
	for _, exclude := range s.Exclude {
		expression, err := compileExpression(exclude)
		if err != nil {
			return nil, fmt.Errorf("exclude: %w", err)
		}
		p.exclude = append(p.exclude, expression)
	}
	for _, expression := range append([]*regexp.Regexp{p.filter}, p.exclude...) {
		p.steps += instructions(expression)
	}
	return p, nil
}

// instructions returns the size of a compiled expression: what it costs to match one byte,
// at most.
func instructions(expression *regexp.Regexp) int64 {
	if expression == nil {
		return 0
	}
	parsed, err := syntax.Parse(expression.String(), syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return int64(len(program.Inst))
}

// Cost returns the largest number of steps that Candidates takes to match tags with the
// regular expressions of the policy: bytes, times instructions.
func (p *Policy) Cost(tags []string) int64 {
	if p.steps == 0 {
		return 0
	}
	size := int64(0)
	for _, tag := range tags {
		size += int64(len(tag))
	}
	return size * p.steps
}

func compileRange(s string) (*semver.Constraints, error) {
	if len(s) > maxExpression {
		return nil, fmt.Errorf("the range is longer than %d bytes", maxExpression)
	}
	within, err := semver.NewConstraint(s)
	if err != nil {
		return nil, fmt.Errorf("%s is not a range like \">=1.4 <2\", \"^3\" or \"1.2.x\"", quote(s))
	}
	if matchesNothing(within, s) {
		return nil, fmt.Errorf("no version can be in the range %s", quote(s))
	}
	return within, nil
}

func compileExpression(s string) (*regexp.Regexp, error) {
	if len(s) > maxExpression {
		return nil, fmt.Errorf("the regular expression is longer than %d bytes", maxExpression)
	}
	expression, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	names := expression.SubexpNames()
	if i := slices.Index(names, versionGroup); i >= 0 && slices.Contains(names[i+1:], versionGroup) {
		return nil, fmt.Errorf("two groups are named %s", versionGroup)
	}
	return expression, nil
}

// StrayGroup returns the name of a group of a regular expression that has no meaning: only the group
// version is compared, so with another name the whole tag is. Empty: there is none, or also a group version.
func StrayGroup(pattern string) string {
	expression, err := regexp.Compile(pattern)
	if err != nil || expression.SubexpIndex(versionGroup) >= 0 {
		return ""
	}
	for _, name := range expression.SubexpNames() {
		if name != "" {
			return name
		}
	}
	return ""
}

// namedGroup matches the beginning of a group with a name.
var namedGroup = regexp.MustCompile(`\(\?P?<[A-Za-z0-9_]+>`)

// WithoutStrayGroups returns the selection without the names of groups that have no meaning, which other
// tools have in the expressions that they are configured with.
func (s Selection) WithoutStrayGroups() Selection {
	for _, pattern := range []*string{&s.Newest, &s.Numeric, &s.Alphabetical, &s.Filter} {
		unnamed := namedGroup.ReplaceAllString(*pattern, "(")
		if _, err := regexp.Compile(unnamed); err == nil && StrayGroup(*pattern) != "" {
			*pattern = unnamed
		}
	}
	return s
}

// checkRelease requires FORGE/OWNER/REPO; the owner may have slashes, as on GitLab.
func checkRelease(s string) error {
	parts := strings.Split(s, "/")
	if len(s) > maxExpression || len(parts) < 3 {
		return fmt.Errorf("%s is not FORGE/OWNER/REPO", quote(s))
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.TrimSpace(part) != part || strings.ContainsFunc(part, unicode.IsControl) {
			return fmt.Errorf("%s is not FORGE/OWNER/REPO", quote(s))
		}
	}
	return nil
}

// Moving returns the tag whose current digest is the version.
func (p *Policy) Moving() (tag string, ok bool) { return p.value, p.strategy == byTag }

// Release returns the source repository, FORGE/OWNER/REPO, whose releases are the
// versions.
func (p *Policy) Release() (source string, ok bool) { return p.value, p.strategy == byRelease }

// NeedsCreated reports whether created times decide. Candidates are then ordered only by
// tag, and the caller sorts them.
func (p *Policy) NeedsCreated() bool { return p.strategy == byNewest }

// Excludes reports whether an exclude of the policy matches a tag.
func (p *Policy) Excludes(tag string) bool {
	return slices.ContainsFunc(p.exclude, func(expression *regexp.Regexp) bool { return expression.MatchString(tag) })
}

// Admits reports whether a tag is a version of the policy. Only the forge knows the releases
// of a source: for them, it reports whether nothing excludes the tag.
func (p *Policy) Admits(tag string) bool { return p.Refuses(tag) == "" }

// NotSelected is a tag that a policy does not select, and why.
type NotSelected struct{ Tag, Reason string }

// NewerThan returns the tags that the policy does not select and that are newer than a selected
// one, newest first, at most limit. Without a selected tag, they are the newest ones. Tags that
// have no order with those of the policy are left out.
func (p *Policy) NewerThan(selected string, tags []string, limit int) []NotSelected {
	var found []ranked
	reasons := map[string]string{}
	last, ordered := p.order(selected)
	for _, tag := range tags {
		reason := p.Refuses(tag)
		candidate, ok := p.order(tag)
		if reason == "" || !ok || candidate.version.bareYear() || ordered && p.compareRanked(candidate, last) <= 0 {
			continue
		}
		found, reasons[tag] = append(found, candidate), reason
	}
	slices.SortFunc(found, func(a, b ranked) int { return p.compareRanked(b, a) })
	newer := make([]NotSelected, 0, min(len(found), limit))
	for _, candidate := range found[:min(len(found), limit)] {
		newer = append(newer, NotSelected{candidate.Tag, reasons[candidate.Tag]})
	}
	return newer
}

// order returns a tag with what it is ordered by, whether the policy selects it or not.
func (p *Policy) order(tag string) (ranked, bool) {
	if !ValidTag(tag) || attachment(tag) || p.strategy == byTag || p.strategy == byRelease || p.strategy == byNewest {
		return ranked{}, false
	}
	text, matches := p.compared(tag)
	if !matches && p.strategy != bySemver {
		return ranked{}, false
	}
	if !matches {
		text = tag
	}
	return p.parse(tag, text)
}

// Refuses returns why the policy does not select a tag; empty: it may.
func (p *Policy) Refuses(tag string) string {
	switch {
	case !ValidTag(tag):
		return "it is not a valid tag"
	case attachment(tag):
		return "it is a signature, an attestation, or an SBOM"
	case p.Excludes(tag):
		return "select.exclude matches it"
	case p.strategy == byRelease:
		return ""
	case p.strategy == byTag:
		if tag != p.value {
			return "select.tag is " + quote(p.value)
		}
		return ""
	}
	text, matches := p.compared(tag)
	if !matches && p.strategy == bySemver {
		return "select.filter does not match it"
	}
	if !matches {
		return "select." + string(p.strategy) + " does not match it"
	}
	candidate, ok := p.parse(tag, text)
	switch {
	case !ok:
		return notVersion(p.strategy)
	case p.strategy == bySemver && p.isLeftOutPrerelease(candidate.version):
		return "it is a prerelease, and select.semver " + quote(p.value) + " names none"
	case p.strategy == bySemver && !p.inRange(candidate.version):
		return "it is outside of select.semver " + quote(p.value)
	}
	return ""
}

// isLeftOutPrerelease reports whether a version is outside of the range only because it is a
// prerelease.
func (p *Policy) isLeftOutPrerelease(v version) bool {
	release := v
	release.pre = ""
	return v.pre != "" && !p.within.Check(v.semver()) && p.within.Check(release.semver())
}

// maxReasons is how many reasons Unselected returns.
const maxReasons = 3

// Unselected describes why the policy selects none of some tags: for the most frequent reasons, how many
// tags there are, an example, and the reason.
func (p *Policy) Unselected(tags []string) string {
	counts, examples := map[string]int{}, map[string]string{}
	for _, tag := range tags {
		reason := p.leftOut(tag)
		if counts[reason]++; examples[reason] == "" || examples[reason] < tag {
			examples[reason] = tag
		}
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	texts := make([]string, 0, maxReasons)
	for _, reason := range reasons[:min(len(reasons), maxReasons)] {
		text := printable.ShortLine(examples[reason], maxTag) + ": " + reason
		if counts[reason] > 1 {
			text = fmt.Sprintf("%d tags, such as %s", counts[reason], text)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// leftOut returns why the policy selects a tag of a list only if others are not there, or not at all.
func (p *Policy) leftOut(tag string) string {
	candidate, _ := p.read(tag)
	switch reason := p.Refuses(tag); {
	case p.strategy == bySemver && p.filter == nil && reason == notVersion(bySemver) && manyNumbers.MatchString(tag):
		return reason + ", unless a select.filter takes it, such as ^(?P<version>.+)$"
	case reason == "" && candidate.version.bareYear():
		return "it is one number, and other tags have several"
	default:
		return reason
	}
}

// manyNumbers matches what a filter makes a version: more than three numbers, or one long one.
var manyNumbers = regexp.MustCompile(`^v?\d+(?:\.\d+){3,}(?:[-+].*)?$|^v?\d{5,}$`)

// notVersion is why a tag is not selected that cannot be parsed.
func notVersion(s strategy) string { return "it is not a version of select." + string(s) }

// IsPrerelease reports whether the policy orders by semver and a tag is a prerelease.
func (p *Policy) IsPrerelease(tag string) bool {
	candidate, ok := p.read(tag)
	return ok && p.strategy == bySemver && candidate.version.pre != ""
}

// Candidate is a tag that may be selected.
type Candidate struct {
	Tag     string
	Version string // the text that was compared; for semver with + instead of _ where that is metadata
}

// Candidates is the result of a policy for a list of tags.
type Candidates struct {
	Ordered  []Candidate // best first
	Skipped  int         // tags that could not be parsed
	Excluded int         // tags that are filtered, excluded, out of range, signatures and the like
}

// ranked is a candidate with what it is ordered by. At most one of number and version is
// set, by strategy.
type ranked struct {
	Candidate
	version version
	number  number
}

// verdict is what a policy makes of one tag.
type verdict string

const (
	selectable verdict = "selectable"
	skipped    verdict = "skipped"  // it cannot be parsed
	excluded   verdict = "excluded" // it is filtered, excluded, out of range, a signature or the like
)

// candidate returns what the policy makes of a tag, and its version, also if that is out of range.
func (p *Policy) candidate(tag string) (ranked, verdict) {
	if !ValidTag(tag) {
		return ranked{}, skipped
	}
	if attachment(tag) || p.Excludes(tag) || p.strategy == byRelease || p.strategy == byTag && tag != p.value {
		return ranked{}, excluded
	}
	text, matches := p.compared(tag)
	if !matches {
		return ranked{}, excluded
	}
	switch candidate, ok := p.parse(tag, text); {
	case !ok:
		return candidate, skipped
	case p.strategy == bySemver && !p.inRange(candidate.version):
		return candidate, excluded
	default:
		return candidate, selectable
	}
}

// Candidates filters and orders tags, which come from a registry and are not trusted:
// invalid ones are skipped and duplicates are dropped.
func (p *Policy) Candidates(tags []string) Candidates {
	var result Candidates
	found := make([]ranked, 0, len(tags))
	dotted := false // there is a version of several numbers, in the range or not
	for _, tag := range tags {
		candidate, is := p.candidate(tag)
		dotted = dotted || candidate.version.written > 1
		switch is {
		case skipped:
			result.Skipped++
		case excluded:
			result.Excluded++
		case selectable:
			found = append(found, candidate)
		}
	}
	if dotted && p.filter == nil {
		all := len(found)
		found = slices.DeleteFunc(found, func(c ranked) bool { return c.version.bareYear() })
		result.Excluded += all - len(found)
	}
	slices.SortFunc(found, func(a, b ranked) int { return p.compareRanked(b, a) })
	found = slices.CompactFunc(found, func(a, b ranked) bool { return a.Tag == b.Tag })
	result.Ordered = make([]Candidate, len(found))
	for i := range found {
		result.Ordered[i] = found[i].Candidate
	}
	return result
}

// Compare compares two versions: the result is positive if a is newer. It is false if the
// policy cannot tell, as for a moving tag, whose publisher decides. Newest compares the
// created times if both are known, and then the tags. The range and the excludes are
// ignored, so that versions that they no longer permit can be compared too.
func (p *Policy) Compare(a, b Version) (int, bool) {
	switch p.strategy {
	case byTag, byRelease:
		return 0, false
	case byNewest:
		if !KnownCreated(a.Created) || !KnownCreated(b.Created) {
			return 0, false
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Tag, b.Tag)), true
	}
	left, ok := p.read(a.Tag)
	right, okToo := p.read(b.Tag)
	mixed := left.version.bareYear() && right.version.written > 1 || right.version.bareYear() && left.version.written > 1
	if !ok || !okToo || p.filter == nil && mixed {
		return 0, false
	}
	return p.compareRanked(left, right), true
}

// DifferentReleases reports whether the tags of two versions name different releases, which
// hardly have the same digest: 1.4.0 and 1.5.0, but neither 1.5 and 1.5.0 nor 1.5.0-rc.1
// and 1.5.0.
func (p *Policy) DifferentReleases(a, b Version) bool {
	order, known := p.Compare(a, b)
	if !known || order == 0 || p.strategy != bySemver {
		return known && order != 0
	}
	var releases [2][]uint64
	for i, tag := range []string{a.Tag, b.Tag} {
		found, _ := p.read(tag)
		releases[i] = found.version.numbers[:min(found.version.written, len(found.version.numbers))]
	}
	shared := min(len(releases[0]), len(releases[1]))
	return !slices.Equal(releases[0][:shared], releases[1][:shared])
}

// compared returns the part of a tag that the policy compares, and whether the tag
// matches.
func (p *Policy) compared(tag string) (string, bool) {
	if p.filter == nil {
		return tag, true
	}
	group := p.filter.SubexpIndex(versionGroup)
	if group < 0 {
		return tag, p.filter.MatchString(tag)
	}
	at := p.filter.FindStringSubmatchIndex(tag)
	if at == nil || at[2*group] < 0 {
		return "", false
	}
	return tag[at[2*group]:at[2*group+1]], true
}

// read parses the part of a tag that the policy compares. It returns false if the tag does not
// match, or is no version.
func (p *Policy) read(tag string) (ranked, bool) {
	text, matches := p.compared(tag)
	if !matches {
		return ranked{}, false
	}
	return p.parse(tag, text)
}

// parse parses the compared text.
func (p *Policy) parse(tag, text string) (ranked, bool) {
	candidate, ok := ranked{Candidate: Candidate{Tag: tag, Version: text}}, text != ""
	switch p.strategy {
	case bySemver:
		if p.chart || p.filter != nil {
			candidate.Version = plusForUnderscore(text)
		}
		candidate.version, ok = parseVersion(candidate.Version, p.filter != nil)
	case byNumeric:
		candidate.number, ok = parseNumber(text)
	}
	return candidate, ok
}

// compareRanked compares by version, then by tag. Of two tags with the same version the
// alphabetically first is better, so v1.2.0 is worse than 1.2.0.
func (p *Policy) compareRanked(a, b ranked) int {
	var order int
	switch p.strategy {
	case bySemver:
		order = a.version.compare(b.version)
	case byNumeric:
		order = a.number.compare(b.number)
	default:
		order = cmp.Compare(a.Version, b.Version)
	}
	return cmp.Or(order, cmp.Compare(b.Tag, a.Tag))
}
