package updater

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// shapeTemplate is a template line whose value is a whole reference.
const shapeTemplate edit.Shape = "template-line"

// templateLine matches a template line that consists of a key or list entry, a
// value, and optionally a comment. Group 1 is the value with its quotes.
var templateLine = regexp.MustCompile(`^[ \t]*(?:-[ \t]+)*(?:["']?[A-Za-z0-9_./-]+["']?:[ \t]+|-[ \t]+)("[^"\\]*"|'[^']*'|[^\s"'#{}&*!|>%@` + "`" + `,\[\]][^\s,\[\]{}]*)[ \t]*,?[ \t]*(?:#.*)?\r?$`)

// findInTemplate inspects a template line by line. A line whose value is a
// whole reference is a site. Any other line that mentions a followed repository
// is refused, unless it is a comment.
func (u *Updater) findInTemplate(file string, content []byte) analysis {
	d := &document{file: file, stream: span.Unparsed(content), follower: u.follower}
	out := newSink(file, content)
	if writes := u.writes(file); len(writes) > 0 {
		out.refuseLine(1, writes[0].Component, "a write entry cannot change a template: it has no values to prove")
	}
	registries := registriesIn(content)
	comment := false
	for number, start := range d.stream.Lines() {
		line := content[start:d.stream.LineEnd(start)]
		inside := comment
		comment = inComment(line, comment)
		if inside || comment || isComment(line) {
			continue
		}
		findInLine(d, out, registries, number+1, start, string(line))
	}
	return analysis{findings: out.findings, stream: d.stream, template: true}
}

// isComment reports whether the line contains only a comment, of YAML or of the
// template language.
func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("#")) {
		return true
	}
	open := bytes.HasPrefix(line, []byte("{{/*")) || bytes.HasPrefix(line, []byte("{{- /*"))
	return open && (bytes.HasSuffix(line, []byte("*/}}")) || bytes.HasSuffix(line, []byte("*/ -}}")))
}

// inComment reports whether a template comment is open after the line.
func inComment(line []byte, open bool) bool {
	if opening := bytes.LastIndex(line, []byte("/*")); opening >= 0 && bytes.Contains(line, []byte("{{")) {
		return bytes.LastIndex(line, []byte("*/")) < opening
	}
	return open && !bytes.Contains(line, []byte("*/"))
}

// findInLine inspects one line of a template.
func findInLine(d *document, out *sink, registries []string, number, start int, line string) {
	if ignoresLine(line) {
		return
	}
	if match := templateLine.FindStringSubmatchIndex(line); match != nil {
		n := lineScalar(d.stream, number, start+match[2], line[match[2]:match[3]])
		if addTemplateSite(d, out, n, line[:match[2]]) {
			return
		}
	}
	for name := range mentions(line) {
		if followed, found := d.follow(name); found {
			refuseMention(out, number, followed.Component, name)
			return
		}
	}
	if name, followed, found := joined(d, registries, line); found {
		refuseMention(out, number, followed.Component, name)
	}
}

func refuseMention(out *sink, number int, component, name string) {
	out.refuseLine(number, component, "a line of a template that mentions "+name+
		" and is not a whole reference to it; change it by hand, or keep the version in the values")
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
	before, name, after := cutReference(n.Value)
	reference, err := image.Parse(name)
	if err != nil || reference.Tag == "" && reference.Digest == "" {
		return false
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found || !followed.Numeric && isAddress(reference) && !saysImage(key+before) {
		return false
	}
	out.add(newReference(shapeTemplate, d.scalar(n), followed, reference, before, after), d.key())
	return true
}

// nameLike matches a run of characters used in repository names.
var nameLike = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._/:@-]*`)

// mentions yields the possible repository names on a line, without tag and
// digest.
func mentions(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := 0; ; {
			at := nameLike.FindStringIndex(line[end:])
			if at == nil {
				return
			}
			start := end + at[0]
			end += at[1]
			if name := mentioned(line, start, end); name != "" && !yield(name) {
				return
			}
		}
	}
}

// nearKey is how many bytes before a value its key is searched for. Without a
// limit, a hostile line would be read once for each of its words.
const nearKey = 64

// mentioned returns the name in a word of a line, or nothing. Web addresses are
// not names. A name of one segment may be an ordinary word, so it counts only
// with a version after it, or with a possible version if the key contains
// "image": redis:{{ .port }} is an address.
func mentioned(line string, start, end int) string {
	word := line[start:end]
	if scheme, rest, found := strings.Cut(word, "://"); found {
		if scheme == "http" || scheme == "https" {
			return ""
		}
		word = rest
	}
	reference, err := image.Parse(word)
	if err == nil && isAddress(reference) {
		return ""
	}
	name, _, _ := strings.Cut(word, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name = name[:at]
	}
	switch {
	case strings.Contains(name, "/"):
	case len(name) == len(word), strings.HasPrefix(line[end:], " "), err != nil && !saysImage(line[max(0, start-nearKey):start]):
		return ""
	}
	return strings.TrimRight(name, "./-_:")
}

// halfName matches a template line with a key and a value that may be half of a
// name.
var halfName = regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]+)?["']?([A-Za-z_]+)["']?:[ \t]+["']?([A-Za-z0-9][A-Za-z0-9._/:-]*)["']?[ \t]*,?[ \t]*(?:#.*)?\r?$`)

// Suffixes, in lower case, of keys that name a registry or a folder in one, and
// of keys that name a repository in it.
var (
	registryKeys = []string{"registry", "hub", "repository", "repo", "url"}
	innerKeys    = []string{"repository", "repo", "image", "chart"}
)

// maxRegistries limits how many registries of a template each name is tried
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

// joined returns the followed repository that results from the name on a line
// and a registry in the same template.
func joined(d *document, registries []string, line string) (name string, followed Followed, found bool) {
	match := halfName.FindStringSubmatch(line)
	if match == nil || !endsInAny(match[1], innerKeys) {
		return "", Followed{}, false
	}
	for _, registry := range registries {
		name = joinName(registry, match[2])
		if followed, found = d.follow(name); found {
			return name, followed, true
		}
	}
	return "", Followed{}, false
}

func endsInAny(key string, ends []string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) })
}
