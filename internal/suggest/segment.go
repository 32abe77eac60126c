package suggest

import (
	"path"
	"regexp"
	"strings"

	"promoter/internal/config"
)

// mark stands in a text for the name of the environment.
const mark = "\x00"

// sight is the name of an environment seen in one segment of a path.
type sight struct {
	word
	name   string // of the environment
	region string // what the name says beside the word
	before string // what stands in the segment before the name, with its separator
	after  string // what stands behind it
	app    string // the part of before or after that may name an application
	ahead  bool   // app stands in before
	exact  bool   // the segment says nothing else
}

var separators = regexp.MustCompile(`[-_.]`)

// see looks for the name of an environment in a segment. Of a file it looks at
// the name without extension.
func see(segment string, isFile bool) (sight, bool) {
	stem, extension := segment, ""
	if isFile {
		extension = extensionOf(segment)
		stem = strings.TrimSuffix(segment, extension)
	}
	at := tokens(stem)
	from, to, found := locate(stem, at)
	if !found {
		return sight{}, false
	}
	s := sight{before: stem[:at[from][0]], after: stem[at[to-1][1]:] + extension}
	s.fill(stem, at, from, to)
	return s, s.surroundings(stem, extension) && config.ValidName(s.name)
}

// extensionOf returns the extensions of manifests, which may be several:
// .yaml, .yaml.gotmpl.
func extensionOf(file string) string {
	for _, e := range []string{".yaml.gotmpl", ".yml.gotmpl", ".yaml.tmpl", ".sops.yaml", ".yaml", ".yml", ".json"} {
		if strings.HasSuffix(file, e) {
			return e
		}
	}
	return path.Ext(file)
}

// tokens returns where the parts between separators start and end. The two
// words pre-prod and non-prod are one.
func tokens(s string) [][2]int {
	var out [][2]int
	start := 0
	for _, at := range append(separators.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		token := s[start:at[0]]
		if last := len(out) - 1; last >= 0 && joins(s[out[last][0]:out[last][1]], token) {
			out[last][1] = at[0]
		} else {
			out = append(out, [2]int{start, at[0]})
		}
		start = at[1]
	}
	return out
}

func joins(a, b string) bool {
	a, b = strings.ToLower(a), strings.TrimRight(strings.ToLower(b), "0123456789")
	return (a == "pre" || a == "non") && (b == "prod" || b == "production")
}

// wordOf looks a token up; pre_prod is pre-prod.
func wordOf(token string) (word, bool) { return findWord(separators.ReplaceAllString(token, "-")) }

// locate returns the tokens [from, to) that name the environment: one word, and
// the regions and qualifiers around it. Two words that are equally sure name
// none.
func locate(s string, at [][2]int) (from, to int, found bool) {
	best := word{}
	for i, t := range at {
		w, ok := wordOf(s[t[0]:t[1]])
		switch {
		case !ok, found && best.sure && !w.sure:
		case found && best.sure == w.sure:
			return 0, 0, false
		default:
			from, found, best = i, true, w
		}
	}
	if !found {
		return 0, 0, false
	}
	to = from + 1
	for to < len(at) && belongs(s[at[to][0]:at[to][1]]) {
		to++
	}
	return from - before(s, at[:from]), to, true
}

// before counts the tokens at the end that belong to the word behind them. They
// are all there is, or begin with a region: in service-a-dev the a belongs to
// the service.
func before(s string, at [][2]int) int {
	start := len(at)
	for start > 0 && belongs(s[at[start-1][0]:at[start-1][1]]) {
		start--
	}
	if start > 0 && start < len(at) && !regions[strings.ToLower(s[at[start][0]:at[start][1]])] {
		return 0
	}
	return len(at) - start
}

// belongs says whether a token beside the word is part of the environment's name.
func belongs(token string) bool {
	token = strings.ToLower(token)
	return token != "" && (regions[token] || qualifiers[token] || len(token) <= 2 && isDigits(token))
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// fill sets the name, the word and the region.
func (s *sight) fill(stem string, at [][2]int, from, to int) {
	s.name = slug(stem[at[from][0]:at[to-1][1]])
	var rest []string
	for _, t := range at[from:to] {
		token := strings.ToLower(stem[t[0]:t[1]])
		if w, ok := wordOf(token); ok {
			s.word = w
			token = token[len(strings.TrimRight(token, "0123456789")):]
		}
		if token != "" {
			rest = append(rest, token)
		}
	}
	s.region = strings.Join(rest, "-")
}

// surroundings decides what the text around the name is: nothing, words such as
// values, or the name of an application. It is false when both sides may be one.
func (s *sight) surroundings(stem, extension string) bool {
	left := strings.TrimRight(s.before, "-_.")
	right := strings.TrimLeft(strings.TrimSuffix(s.after, extension), "-_.")
	s.exact = left == "" && right == ""
	leftApp := left != "" && !stems[strings.ToLower(left)]
	rightApp := right != "" && !stems[strings.ToLower(right)]
	switch {
	case leftApp && rightApp:
		return false
	case leftApp:
		s.app, s.ahead = left, true
	case rightApp:
		s.app = right
	}
	return stem != ""
}

// isRegion says whether a folder's name is a place on earth and nothing else.
func isRegion(segment string) bool {
	target := false
	for _, token := range separators.Split(strings.ToLower(segment), -1) {
		if !belongs(token) {
			return false
		}
		target = target || regions[token]
	}
	return target
}

// slug makes a name of a text: small letters and digits, one dash for anything
// else.
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

// around writes the segment with other texts for the environment and for the
// application.
func (s *sight) around(environment, application string) string {
	before, after := s.before, s.after
	switch {
	case s.app == "":
	case s.ahead:
		before = strings.Replace(before, s.app, application, 1)
	default:
		after = strings.Replace(after, s.app, application, 1)
	}
	return before + environment + after
}
