package suggest

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"promoter/internal/config/field"
	"promoter/internal/edit"
)

// candidate is a file with the possible readings of its path, the likeliest first.
type candidate struct {
	weight   int // number of references in the file
	readings []*reading
}

// reading is a path in which one segment names an environment.
type reading struct {
	segmentMatch
	file     string
	weight   int
	segments []string
	at       int // the segment with the name
	next     int // the first segment after the environment and the categories below it
	key      string
}

// segmentMatch is the name of an environment in one segment of a path.
type segmentMatch struct {
	stage
	name     string // of the environment
	region   string // the rest of the name
	before   string // text before the name, with its separator
	after    string // text after the name
	app      string // the part of before or after that may name an application
	appFirst bool   // app is in before
	exact    bool   // the segment has only the name
}

// maxReadings is how many readings of one path are tried.
const maxReadings = 4

// candidates reads the paths of all files with references, and of those that show
// how a folder is used.
func candidates(files []string, references []edit.Reference) []candidate {
	weights := map[string]int{}
	for _, r := range references {
		weights[r.Position.File]++
	}
	for _, file := range files {
		if _, known := weights[file]; !known && isStructural(file) {
			weights[file] = 0
		}
	}
	var found []candidate
	excluded := defaultExcludes()
	for _, file := range sortedKeys(weights) {
		if !isPrintable(file) || excluded(file) {
			continue
		}
		if c := readPath(file, weights[file]); len(c.readings) > 0 {
			found = append(found, c)
		}
	}
	return found
}

// isStructural reports whether a file without references shows that its folder is
// deployed.
func isStructural(file string) bool {
	base := path.Base(file)
	switch base {
	case "kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml":
		return true
	}
	return strings.HasPrefix(base, "values") && (extensionOf(base) == ".yaml" || extensionOf(base) == ".yml")
}

// isPrintable reports whether a path can be written into a glob and a comment.
func isPrintable(file string) bool {
	return utf8.ValidString(file) && !strings.ContainsAny(file, `*?[]{}\`) &&
		!strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) })
}

// readPath finds all segments that may name an environment.
func readPath(file string, weight int) candidate {
	c := candidate{weight: weight}
	segments := strings.Split(file, "/")
	for i, segment := range segments {
		isFile := i == len(segments)-1
		match, ok := matchSegment(segment, isFile)
		if !ok {
			continue
		}
		r := &reading{segmentMatch: match, file: file, weight: weight, segments: segments, at: i, next: i + 1}
		if !isFile {
			r.skipBelow()
		}
		r.key = r.familyKey()
		c.readings = append(c.readings, r)
	}
	slices.SortStableFunc(c.readings, func(a, b *reading) int { return cmp.Compare(b.likelihood(), a.likelihood()) })
	c.readings = c.readings[:min(len(c.readings), maxReadings)]
	return c
}

// likelihood orders the readings of a path: a name alone before one beside the
// name of an application, and a certain word before one with other meanings.
func (r *reading) likelihood() (points int) {
	if r.app == "" {
		points += 4
	}
	if r.certain {
		points += 2
	}
	return points
}

// skipBelow moves next behind the folder of a region (prod/eu-west-1), which
// belongs to the environment, and behind categories (prod/apps).
func (r *reading) skipBelow() {
	folders := len(r.segments) - 1
	if r.next < folders && r.exact && r.region == "" && isRegion(r.segments[r.next]) {
		r.region = slug(r.segments[r.next])
		r.name += "-" + r.region
		r.next++
	}
	for r.next < folders && categories[strings.ToLower(r.segments[r.next])] {
		r.next++
	}
}

// environmentMark stands for the name of the environment in a family key.
const environmentMark = "\x00"

// familyKey returns what the readings of one family have in common: the path, with
// marks where they differ.
func (r *reading) familyKey() string {
	key := slices.Clone(r.segments[:r.next])
	for i := range key {
		switch {
		case i < r.at && canVary(key[i]):
			key[i] = "?"
		case i == r.at:
			key[i] = r.replace(environmentMark, "?")
		case i == r.at+1 && r.hasRegionFolder():
			key[i] = environmentMark
		}
	}
	return strings.Join(key, "/")
}

// canVary reports whether a segment before the environment may be the name of an
// application.
func canVary(segment string) bool {
	segment = strings.ToLower(segment)
	return !categories[segment] && !parts[segment]
}

// hasRegionFolder reports whether the region of the environment is a folder of its
// own.
func (r *reading) hasRegionFolder() bool {
	return r.exact && r.at+1 < r.next && r.region != "" && r.region == slug(r.segments[r.at+1])
}

// member returns the folder after the environment that may name an application;
// empty if the file is in the folder of the environment.
func (r *reading) member() string {
	if r.next+1 >= len(r.segments) || parts[strings.ToLower(r.segments[r.next])] {
		return ""
	}
	return r.segments[r.next]
}

// environmentID identifies one stage in one region, however it is spelled.
func (r *reading) environmentID() string { return r.canonical + "/" + r.region }

var separators = regexp.MustCompile(`[-_.]`)

// span is a token of a text, from one byte to another.
type span struct{ from, to int }

// matchSegment finds the name of an environment in a segment, for a file in its
// name without the extension.
func matchSegment(segment string, isFile bool) (segmentMatch, bool) {
	stem, extension := segment, ""
	if isFile {
		extension = extensionOf(segment)
		stem = strings.TrimSuffix(segment, extension)
	}
	tokens := tokenize(stem)
	from, to, found := findName(stem, tokens)
	if !found {
		return segmentMatch{}, false
	}
	m := segmentMatch{
		name:   slug(stem[tokens[from].from:tokens[to-1].to]),
		before: stem[:tokens[from].from],
		after:  stem[tokens[to-1].to:] + extension,
	}
	var region []string
	for _, t := range tokens[from:to] {
		token := strings.ToLower(stem[t.from:t.to])
		if found, ok := findStage(token); ok {
			m.stage = found
			token = token[len(strings.TrimRight(token, "0123456789")):]
		}
		if token != "" {
			region = append(region, token)
		}
	}
	m.region = strings.Join(region, "-")

	// The text around the name is nothing, a word such as values, or the name of an
	// application. It cannot be one on both sides.
	left := strings.TrimRight(m.before, "-_.")
	right := strings.TrimLeft(strings.TrimSuffix(m.after, extension), "-_.")
	m.exact = left == "" && right == ""
	leftApp := left != "" && !stems[strings.ToLower(left)]
	rightApp := right != "" && !stems[strings.ToLower(right)]
	switch {
	case leftApp && rightApp:
		return m, false
	case leftApp:
		m.app, m.appFirst = left, true
	case rightApp:
		m.app = right
	}
	return m, stem != "" && field.ValidName(m.name)
}

// extensionOf returns the extension of a manifest, which may have several parts.
func extensionOf(file string) string {
	for _, e := range []string{".yaml.gotmpl", ".yml.gotmpl", ".yaml.tmpl", ".sops.yaml", ".yaml", ".yml", ".json"} {
		if strings.HasSuffix(file, e) {
			return e
		}
	}
	return path.Ext(file)
}

// tokenize returns the tokens between separators. The words pre-prod and non-prod
// are one token each.
func tokenize(s string) []span {
	isPair := func(a, b string) bool {
		a, b = strings.ToLower(a), strings.TrimRight(strings.ToLower(b), "0123456789")
		return (a == "pre" || a == "non") && (b == "prod" || b == "production")
	}
	var tokens []span
	start := 0
	for _, separator := range append(separators.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		token := span{start, separator[0]}
		if last := len(tokens) - 1; last >= 0 && isPair(s[tokens[last].from:tokens[last].to], s[token.from:token.to]) {
			tokens[last].to = token.to
		} else {
			tokens = append(tokens, token)
		}
		start = separator[1]
	}
	return tokens
}

// findName returns the tokens [from, to) that name the environment: one stage, with
// the regions and qualifiers around it. Two stages that are equally certain name
// none.
func findName(s string, tokens []span) (from, to int, found bool) {
	var best stage
	for i, t := range tokens {
		one, ok := findStage(s[t.from:t.to])
		switch {
		case !ok, found && best.certain && !one.certain:
		case found && best.certain == one.certain:
			return 0, 0, false
		default:
			from = i
			found = true
			best = one
		}
	}
	if !found {
		return 0, 0, false
	}
	to = from + 1
	for to < len(tokens) && isQualifier(s[tokens[to].from:tokens[to].to]) {
		to++
	}
	// Tokens before the stage belong to it only if they are all there are, or begin
	// with a region: in service-a-dev, the a belongs to the service.
	start := from
	for start > 0 && isQualifier(s[tokens[start-1].from:tokens[start-1].to]) {
		start--
	}
	if start == 0 || start < from && regions[strings.ToLower(s[tokens[start].from:tokens[start].to])] {
		from = start
	}
	return from, to, true
}

// isQualifier reports whether a token beside the stage is part of the name of the
// environment.
func isQualifier(token string) bool {
	token = strings.ToLower(token)
	isNumber := strings.Trim(token, "0123456789") == "" && len(token) <= 2
	return token != "" && (regions[token] || qualifiers[token] || isNumber)
}

// isRegion reports whether the name of a folder is a region and nothing else.
func isRegion(segment string) bool {
	found := false
	for _, token := range separators.Split(strings.ToLower(segment), -1) {
		if !isQualifier(token) {
			return false
		}
		found = found || regions[token]
	}
	return found
}

// slug returns a text as a name: lower-case letters, digits, and single dashes for
// everything else.
func slug(text string) string {
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(text)) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// replace returns the segment with other texts for the environment and the
// application.
func (m *segmentMatch) replace(environment, application string) string {
	before, after := m.before, m.after
	switch {
	case m.app == "":
	case m.appFirst:
		before = strings.Replace(before, m.app, application, 1)
	default:
		after = strings.Replace(after, m.app, application, 1)
	}
	return before + environment + after
}
