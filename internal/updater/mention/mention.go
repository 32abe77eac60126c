// Package mention finds where a text names a followed repository, whatever the form of the file: with
// or without a version, with its registry, or after a variable in place of it. It decides nothing about
// files, and knows no shapes: the caller leaves out what is edited, refused, or known to need no version.
package mention

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/prefilter"
)

// Occurrence is one place in a text that names a followed repository.
type Occurrence struct {
	Line, Column int // from 1, in characters
	Component    string
	Repository   image.Repository
	Text         string // as written, in one printable line
	// Versioned is set if a tag, a digest, or a variable follows the name.
	Versioned bool
	// Comment is set if the text is in a comment.
	Comment bool
}

// Follow returns the component that follows a repository, if one does.
type Follow func(repository image.Repository) (component string, followed bool)

// Finder finds the names of repositories. It is immutable.
type Finder struct {
	literals *prefilter.Filter // of which each name contains one; nil: of any word
	exact    map[image.Repository]bool
	bySuffix map[string][]image.Repository // by the end of the path, after any slash of the name
}

// New returns a finder of names that contain one of the literals, as the follower of a branch has
// them; without literals, any word may be a name. The repositories without a wildcard are also
// found after a variable, and where another line has the registry.
func New(literals []string, exact []image.Repository) *Finder {
	f := &Finder{exact: map[image.Repository]bool{}, bySuffix: map[string][]image.Repository{}}
	if len(literals) > 0 {
		f.literals = prefilter.New(literals)
	}
	for _, repository := range exact {
		if f.exact[repository] {
			continue
		}
		f.exact[repository] = true
		rest := repository.String()
		for {
			_, after, found := strings.Cut(rest, "/")
			if !found {
				break
			}
			f.bySuffix[after] = append(f.bySuffix[after], repository)
			rest = after
		}
	}
	return f
}

// Match reports whether the text may contain a name.
func (f *Finder) Match(text []byte) bool { return f.literals == nil || f.literals.Match(text) }

// Find returns the names in a text of a file, in its order. Lines that end the search, with promoter:
// ignore, are left out, and so are web addresses and patterns.
func (f *Finder) Find(text []byte, follow Follow) []Occurrence {
	s := search{finder: f, text: text, follow: follow}
	if f.literals == nil {
		for at := 0; at < len(text); at++ {
			if isWord(text[at]) {
				at = s.inspect(at)
			}
		}
		return s.found
	}
	for _, at := range f.literals.Positions(text) {
		if at >= s.end {
			s.inspect(at)
		}
	}
	return s.found
}

// search is the search in one text.
type search struct {
	finder *Finder
	text   []byte
	follow Follow
	found  []Occurrence
	end    int // of the last word that was inspected
	line   line
	// contained are the registries in the text, and those that are not.
	contained map[string]bool
}

// maxWord is the length of a word from which on it is no name, in bytes.
const maxWord = 512

// inspect inspects the word at an offset, and returns its end.
func (s *search) inspect(at int) int {
	start, end := at, at
	for start > s.end && isWord(s.text[start-1]) {
		start--
	}
	for end < len(s.text) && isWord(s.text[end]) {
		end++
	}
	s.end = end
	if end-start <= maxWord && !bytes.HasPrefix(s.text[end:], []byte("*")) {
		s.inspectWord(start, end)
	}
	return end
}

// isWord reports whether a byte may be part of a reference.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._/:@-", c) >= 0
}

// name is what a word says.
type name struct {
	text      string // without a version
	tag       string
	versioned bool
	placed    bool // a variable stands for the registry
}

// inspectWord adds the word if it is the name of a followed repository.
func (s *search) inspectWord(start, end int) {
	n, offset, ok := s.read(start, end)
	if !ok {
		return
	}
	slash := strings.Contains(n.text, "/")
	reference, err := image.Parse(n.text)
	if !slash && !n.versioned || err != nil {
		return
	}
	if reference.Tag = n.tag; !slash && !n.placed && (n.tag == "" || lex.IsAddress(reference)) {
		return
	}
	if !n.placed && (reference.Repository.HasDomain() || s.finder.exact[reference.Repository]) {
		if component, found := s.follow(reference.Repository); found {
			s.add(offset, end, component, reference.Repository, n.versioned)
			return
		}
	}
	for _, repository := range s.finder.bySuffix[n.text] {
		prefix := strings.TrimSuffix(strings.TrimSuffix(repository.String(), n.text), "/")
		if !n.placed && !s.contains(prefix) {
			continue
		}
		if component, found := s.follow(repository); found {
			s.add(offset, end, component, repository, n.versioned)
			return
		}
	}
}

// read returns the name in a word, and where it begins.
func (s *search) read(start, end int) (n name, offset int, ok bool) {
	word := string(s.text[start:end])
	before := byte(' ')
	if start > 0 {
		before = s.text[start-1]
	}
	if scheme, rest, found := strings.Cut(word, "://"); found {
		switch scheme {
		case "oci", "docker", "docker-image", "containers-storage":
			word = rest
		default:
			return name{}, 0, false // a web address, or one of Git
		}
	}
	if at := strings.Index(word, ":-"); at >= 0 { // the default of a variable
		word, before = word[at+len(":-"):], ' '
	}
	switch {
	case before == '$' || before == '%': // the name of a variable, or a verb
		_, rest, found := strings.Cut(word, "/")
		if !found {
			return name{}, 0, false
		}
		word, n.placed = rest, true
	case strings.HasPrefix(word, "/"):
		word = strings.TrimLeft(word, "/")
		n.placed = strings.IndexByte("})\"'`>", before) >= 0
		if !n.placed {
			return name{}, 0, false // a path
		}
	}
	word = strings.TrimLeft(word, "-._:@")
	offset = end - len(word)
	trimmed := strings.TrimRight(word, "./-_:@")
	open := strings.HasPrefix(word[len(trimmed):], ":") && s.versionAfter(end)
	if at := strings.IndexByte(trimmed, ':'); at >= 0 && at < strings.IndexByte(trimmed, '/') && !strings.ContainsAny(trimmed[:at], ".") {
		if port := strings.Trim(trimmed[at+1:strings.IndexByte(trimmed, '/')], "0123456789"); port != "" {
			trimmed, offset = trimmed[at+1:], offset+at+1 // a key without a space, or the scheme of a transport
		}
	}
	text, _, hasDigest := strings.Cut(trimmed, "@")
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, '/') {
		text, n.tag = text[:at], text[at+1:]
	}
	n.text, n.versioned = text, n.tag != "" || hasDigest || open
	if quoted := before == '"' || before == '\'' || before == '`'; n.placed && quoted && !n.versioned {
		return name{}, 0, false // a path in quotes
	}
	return n, offset, text != ""
}

// versionAfter reports whether a version may follow a colon: a variable, the rest of a text that is put
// together, or a value with a digit.
func (s *search) versionAfter(end int) bool {
	rest := bytes.TrimLeft(s.text[end:min(end+8, len(s.text))], " \"'")
	if len(rest) == 0 {
		return false
	}
	return strings.IndexByte("${%(+<", rest[0]) >= 0 || rest[0] >= '0' && rest[0] <= '9' ||
		rest[0] == 'v' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9'
}

// contains reports whether the text contains a registry.
func (s *search) contains(registry string) bool {
	known, inspected := s.contained[registry]
	if !inspected {
		if s.contained == nil {
			s.contained = map[string]bool{}
		}
		known = bytes.Contains(s.text, []byte(registry))
		s.contained[registry] = known
	}
	return known
}

// ignore excludes a line, in a comment of any language.
var ignore = []byte(lex.OwnMarker + " ignore")

// updaterPrefix begins annotations that configure Argo CD Image Updater. None of them sets a version.
var updaterPrefix = []byte("argocd-image-updater.argoproj.io/")

// line is the line of the last occurrence. Each line is read once, however many names it has.
type line struct {
	number, start, end int
	column, counted    int  // characters before the offset counted
	ignored            bool // nothing on it counts
	comment            int  // where a comment begins; its end: there is none
}

// moveTo makes the line that of an offset, which is not before the last one.
func (l *line) moveTo(text []byte, at int) {
	if l.number == 0 || at > l.end {
		l.number = max(l.number, 1) + bytes.Count(text[l.start:at], []byte{'\n'})
		l.start += bytes.LastIndexByte(text[l.start:at], '\n') + 1
		l.end = len(text)
		if length := bytes.IndexByte(text[l.start:], '\n'); length >= 0 {
			l.end = l.start + length
		}
		whole := text[l.start:l.end]
		l.ignored = bytes.Contains(whole, ignore) || bytes.Contains(whole, updaterPrefix)
		l.comment = l.start + commentIn(whole)
		l.column, l.counted = 1, l.start
	}
	l.column += utf8.RuneCount(text[l.counted:at])
	l.counted = at
}

// add adds an occurrence.
func (s *search) add(start, end int, component string, repository image.Repository, versioned bool) {
	s.line.moveTo(s.text, start)
	if s.line.ignored {
		return
	}
	s.found = append(s.found, Occurrence{
		Line: s.line.number, Column: s.line.column, Component: component, Repository: repository,
		Text:      lex.Shorten(strings.TrimRight(string(s.text[start:end]), "./-_@")),
		Versioned: versioned, Comment: start >= s.line.comment,
	})
}

// lineComment matches the beginning of a comment, at the start of a line or after a space.
var lineComment = regexp.MustCompile(`^\s*(?:#|//|<!--|\{\{-? ?/\*|/\*|;)| #| // `)

// commentIn returns where a comment begins in a line, or its length.
func commentIn(text []byte) int {
	if at := lineComment.FindIndex(text); at != nil {
		return at[0]
	}
	return len(text)
}

// Lines are ranges of lines, in their order.
type Lines [][2]int // the first line, and the one after the last

// Has reports whether a line is in one of the ranges.
func (l Lines) Has(line int) bool {
	_, found := slices.BinarySearchFunc(l, line, func(r [2]int, line int) int {
		switch {
		case r[1] <= line:
			return -1
		case r[0] > line:
			return 1
		}
		return 0
	})
	return found
}

// Documents returns the lines of the documents of a YAML stream that contain one of the texts.
func Documents(content []byte, texts [][]byte) (lines Lines) {
	contains := func(content []byte) bool {
		return slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(content, text) })
	}
	if !contains(content) {
		return nil
	}
	first, number := 1, 0 // lines
	start, offset := 0, 0
	add := func() {
		if contains(content[start:offset]) {
			lines = append(lines, [2]int{first, number})
		}
	}
	for text := range bytes.Lines(content) {
		number++
		if bytes.HasPrefix(text, []byte("---")) {
			add()
			first, start = number, offset
		}
		offset += len(text)
	}
	number++
	add()
	return lines
}
