package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"promoter/internal/edit"
)

// spot is a file whose path says an environment.
type spot struct {
	file     string
	weight   int // references in the file
	segments []string
	sight
	at   int // the segment with the name
	next int // the first segment behind the environment and the categories below it
	key  string
}

// candidate is a file with all readings of its path, the likeliest first.
type candidate struct {
	file     string
	weight   int
	readings []spot
}

// candidates reads the paths of all files that hold references, and of those
// that say how a folder is used.
func candidates(files []string, references []edit.Reference) []candidate {
	weights := map[string]int{}
	for _, r := range references {
		weights[r.Position.File]++
	}
	for _, file := range files {
		if _, known := weights[file]; !known && structural(file) {
			weights[file] = 0
		}
	}
	var out []candidate
	excluded := defaultExcludes()
	for _, file := range sortedKeys(weights) {
		if !speakable(file) || excluded(file) {
			continue
		}
		if c := read(file, weights[file]); len(c.readings) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// structural says whether a file without references still shows that its folder
// is deployed.
func structural(file string) bool {
	base := path.Base(file)
	switch base {
	case "kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml":
		return true
	}
	return strings.HasPrefix(base, "values") && (extensionOf(base) == ".yaml" || extensionOf(base) == ".yml")
}

// speakable says whether a path can stand in a glob and in a comment.
func speakable(file string) bool {
	return utf8.ValidString(file) && !strings.ContainsAny(file, `*?[]{}\`) &&
		!strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) })
}

// read finds every segment that may name an environment.
func read(file string, weight int) candidate {
	c := candidate{file: file, weight: weight}
	segments := strings.Split(file, "/")
	for i, segment := range segments {
		isFile := i == len(segments)-1
		if seen, ok := see(segment, isFile); ok {
			s := spot{file: file, weight: weight, segments: segments, sight: seen, at: i, next: i + 1}
			s.below(isFile)
			s.key = s.family()
			c.readings = append(c.readings, s)
		}
	}
	slices.SortStableFunc(c.readings, func(a, b spot) int { return cmp.Compare(b.certainty(), a.certainty()) })
	c.readings = c.readings[:min(len(c.readings), maxReadings)]
	return c
}

// certainty orders readings: a name alone beats one beside the name of an
// application, and a sure word beats one that means other things as well.
func (s *spot) certainty() (certainty int) {
	if s.app == "" {
		certainty += 4
	}
	if s.sure {
		certainty += 2
	}
	return certainty
}

// below takes the folders behind the environment that belong to its name
// (prod/eu-west-1), and the categories below it (prod/apps).
func (s *spot) below(isFile bool) {
	if isFile {
		return
	}
	folders := len(s.segments) - 1
	if s.next < folders && s.exact && s.region == "" && isRegion(s.segments[s.next]) {
		s.region = slug(s.segments[s.next])
		s.name += "-" + s.region
		s.next++
	}
	for s.next < folders && categories[strings.ToLower(s.segments[s.next])] {
		s.next++
	}
}

// variable says whether a segment before the environment may differ from
// application to application.
func variable(segment string) bool {
	segment = strings.ToLower(segment)
	return !categories[segment] && !parts[segment]
}

// family returns what all spots of one layout have in common: the path with
// marks where they differ.
func (s *spot) family() string {
	key := slices.Clone(s.segments[:s.next])
	for i := range key {
		switch {
		case i < s.at && variable(key[i]):
			key[i] = "?"
		case i == s.at:
			key[i] = s.around(mark, "?")
		case i == s.at+1 && s.nested():
			key[i] = mark
		}
	}
	return strings.Join(key, "/")
}

// nested says whether the region of the environment stands in a folder of its
// own.
func (s *spot) nested() bool {
	return s.exact && s.at+1 < s.next && s.region != "" && s.region == slug(s.segments[s.at+1])
}

// member returns the folder behind the environment that may name an application;
// nothing when the file stands there itself.
func (s *spot) member() string {
	if s.next+1 >= len(s.segments) || parts[strings.ToLower(s.segments[s.next])] {
		return ""
	}
	return s.segments[s.next]
}
