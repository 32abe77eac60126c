package shapes

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/site"
	"promoter/internal/updater/span"
)

// shapeTemplate is a template line whose value is a whole reference.
const shapeTemplate edit.Shape = "template-line"

// templateLine matches a template line that consists of a key or list entry, a
// value, and optionally a comment. Group 1 is the value with its quotes.
var templateLine = regexp.MustCompile(`^[ \t]*(?:-[ \t]+)*(?:["']?[A-Za-z0-9_./-]+["']?:[ \t]+|-[ \t]+)` +
	`("[^"\\]*"|'[^']*'|[^\s"'#{}&*!|>%@` + "`" + `,\[\]][^\s,\[\]{}]*)` +
	`[ \t]*,?[ \t]*(?:#.*)?\r?$`)

// FindInTemplate inspects a template line by line. A line whose value is a
// whole reference is a site. Any other line that may set the version of a followed
// repository is refused. Comments, text, and names without a version are left unchanged.
func (f *Finder) FindInTemplate(file string, stream *span.Stream, writes []Write) Findings {
	d := &document{file: file, stream: stream, follower: f.follower, indexes: newIndexes()}
	out := newSink(file, stream.Data)
	for _, w := range writes {
		out.refuseLine(1, w.Component, "a write entry cannot change a template: it has no values to prove")
	}
	t := template{registries: registriesIn(stream.Data)}
	for number, line := range TemplateLines(stream) {
		t.lines, t.numbers = append(t.lines, line), append(t.numbers, number+1)
	}
	for i := range t.lines {
		t.findInLine(d, out, i)
	}
	return out.found
}

// template is what is known of a template besides the line that is inspected.
type template struct {
	registries []string
	lines      []Line
	numbers    []int // of the lines, from 1
}

// Line is a line of a template with its offset.
type Line struct {
	start int
	Text  string
}

// IsText reports whether the line is a sentence or a command, alone or after a key, without an action of the
// template language. In YAML, references in such text are no values either.
func (l Line) IsText() bool {
	if strings.Contains(l.Text, "{{") {
		return false
	}
	text := strings.TrimSpace(l.Text[len(entryStart.FindString(l.Text)):])
	if at := strings.Index(text, " #"); at >= 0 {
		text = strings.TrimSpace(text[:at])
	}
	return strings.ContainsAny(text, " \t") && !strings.ContainsRune("\"'[{&!*|>%@`", rune(text[0]))
}

// entryStart matches what precedes the value of an entry of a mapping or a list.
var entryStart = regexp.MustCompile(`^[ \t]*(?:-[ \t]+)*(?:["']?[A-Za-z0-9_./-]+["']?:(?:[ \t]+|\r?$))?`)

// TemplateLines yields the lines of a template by their index, without those that contain
// only a comment, of YAML or of the template language, and without ignored ones.
func TemplateLines(s *span.Stream) iter.Seq2[int, Line] {
	return func(yield func(int, Line) bool) {
		comments := lex.TemplateComments(s.Data)
		for number, start := range s.Lines() {
			end := s.LineEnd(start)
			for len(comments) > 0 && comments[0].End <= start {
				comments = comments[1:]
			}
			text := s.Data[start:end]
			trimmed := bytes.TrimSpace(text)
			if len(trimmed) == 0 || trimmed[0] == '#' || onlyComments(s.Data, start, end, comments) || lex.IgnoresLine(string(text)) {
				continue
			}
			if !yield(number, Line{start, string(text)}) {
				return
			}
		}
	}
}

// onlyComments reports whether a line has nothing except white space outside of comments.
func onlyComments(data []byte, start, end int, comments []lex.Comment) bool {
	for _, comment := range comments {
		if comment.Start >= end {
			break
		}
		if comment.Start > start && len(bytes.TrimSpace(data[start:comment.Start])) > 0 {
			return false
		}
		start = min(end, comment.End)
	}
	return len(bytes.TrimSpace(data[start:end])) == 0
}

// findInLine inspects one line of a template.
func (t *template) findInLine(d *document, out *sink, i int) {
	line, number := t.lines[i].Text, t.numbers[i]
	bare := false // the value is the name of a repository, and nothing else
	if match := templateLine.FindStringSubmatchIndex(line); match != nil {
		n := lineScalar(d.stream, number, t.lines[i].start+match[2], line[match[2]:match[3]])
		if addTemplateSite(d, out, n, line[:match[2]]) {
			return
		}
		_, name, _ := lex.CutReference(n.Value)
		_, bare = d.follow(name)
	}
	if t.lines[i].IsText() || bare && !t.hasVersionBeside(i) {
		return
	}
	line = findDefaultsInLine(d, out, number, t.lines[i].start, line)
	mentioned := followedOnLine(d, line)
	if len(mentioned) == 0 && t.hasVersions() {
		mentioned = joined(d, t.registries, line)
	}
	for _, m := range mentioned {
		out.refuseLine(number, m.component, m.inTemplate())
	}
}

// nearLines is how many lines around a name are searched for a version.
const nearLines = 64

// keysOfVersions are the ends, in lower case, of keys that contain a version.
var keysOfVersions = []string{"tag", "digest", "version", "sha", "sha256"}

// setsVersion reports whether a line has a key that contains a version.
func setsVersion(line string) bool {
	match := keyOfLine.FindStringSubmatch(line)
	return match != nil && match[2] != "apiVersion" && endsInAny(match[2], keysOfVersions)
}

// keyOfLine matches a line with a key. Group 1 is what precedes the key.
var keyOfLine = regexp.MustCompile(`^([ \t]*(?:-[ \t]+)*)["']?([A-Za-z0-9_.-]+)["']?:`)

// hasVersions reports whether any line sets a version.
func (t *template) hasVersions() bool {
	return slices.ContainsFunc(t.lines, func(l Line) bool { return setsVersion(l.Text) })
}

// hasVersionBeside reports whether the mapping that a line is in sets a version. Lines of the template
// language are ignored. If the mapping is too long to tell, it may.
func (t *template) hasVersionBeside(i int) bool {
	own := keyOfLine.FindStringSubmatch(t.lines[i].Text)
	if own == nil { // an entry of a list
		return false
	}
	return t.versionToward(i, 1, len(own[1])) || !strings.Contains(own[1], "-") && t.versionToward(i, -1, len(own[1]))
}

// versionToward does so in the lines after or before one, whose key is at the column.
func (t *template) versionToward(i, step, column int) bool {
	for range nearLines {
		if i += step; i < 0 || i >= len(t.lines) {
			return false
		}
		match := keyOfLine.FindStringSubmatch(t.lines[i].Text)
		if match == nil {
			continue
		}
		at, first := len(match[1]), strings.Contains(match[1], "-")
		switch {
		case at < column, step > 0 && at == column && first:
			return false
		case at == column && setsVersion(t.lines[i].Text):
			return true
		case at == column && first:
			return false
		}
	}
	return true
}

// mention is the name of a followed repository in a text.
type mention struct{ name, component string }

// inTemplate is why a line of a template with the name is refused.
func (m mention) inTemplate() string {
	return "a line of a template that mentions " + m.name +
		" and is not a whole reference to it; change it by hand, or keep the version in the values"
}

// followedOnLine returns the components that a line mentions, each once.
func followedOnLine(d *document, line string) []mention {
	return followedAmong(d, lex.Mentions(line))
}

func followedAmong(d *document, names iter.Seq[string]) (found []mention) {
	for name := range names {
		followed, ok := d.follow(name)
		if ok && !slices.ContainsFunc(found, func(m mention) bool { return m.component == followed.Component }) {
			found = append(found, mention{name, followed.Component})
		}
	}
	return found
}

// lineScalar returns the node that the parser would return for a value.
func lineScalar(s *span.Stream, number, start int, raw string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: raw, Line: number}
	n.Column = s.Position("", start).Column
	if raw != "" && (raw[0] == '"' || raw[0] == '\'') {
		n.Value = raw[1 : len(raw)-1]
		n.Style = yaml.DoubleQuotedStyle
		if raw[0] == '\'' {
			n.Style = yaml.SingleQuotedStyle
		}
	}
	return n
}

// addTemplateSite adds a line's value if it is a whole reference. key is the
// text before the value.
func addTemplateSite(d *document, out *sink, n *yaml.Node, key string) bool {
	before, name, after := lex.CutReference(n.Value)
	followed, reference, found := followedReference(d, name, key+before)
	if !found {
		return false
	}
	out.add(site.NewReference(shapeTemplate, d.scalar(n), followed, reference, before, after), d.key())
	return true
}

// halfName matches a template line with a key and a value that may be half of a
// name.
var halfName = regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]+)?["']?([A-Za-z_]+)["']?:[ \t]+` +
	`["']?([A-Za-z0-9][A-Za-z0-9._/:-]*)["']?[ \t]*,?[ \t]*(?:#.*)?\r?$`)

// Suffixes, in lower case, of keys that name a registry or a folder in one, and
// of keys that name a repository in it.
var (
	registryKeys = []string{"registry", "hub", "repository", "repo", "url"}
	innerKeys    = []string{"repository", "repo", "image", "chart"}
)

// maxRegistries limits how many registries of a template, or of a mapping, each name is tried
// with.
const maxRegistries = 32

// registriesIn returns the first registries that a template names.
func registriesIn(content []byte) []string {
	var found []string
	for _, match := range halfName.FindAllSubmatch(content, -1) {
		name := string(match[2])
		if endsInAny(string(match[1]), registryKeys) && !slices.Contains(found, name) {
			found = append(found, name)
		}
		if len(found) == maxRegistries {
			break
		}
	}
	return found
}

// joined returns the components whose repository results from the name on a line and a
// registry in the same template.
func joined(d *document, registries []string, line string) []mention {
	match := halfName.FindStringSubmatch(line)
	if match == nil || !endsInAny(match[1], innerKeys) {
		return nil
	}
	return followedAmong(d, func(yield func(string) bool) {
		for _, registry := range registries {
			if !yield(joinName(registry, match[2])) {
				return
			}
		}
	})
}

func endsInAny(key string, ends []string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) })
}
