package shapes

import (
	"iter"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeTemplateDefault is a quoted reference in an action of a template that applies where
// nothing else is set: {{ .Values.image | default "quay.io/acme/web:1.4.2" }}.
const shapeTemplateDefault edit.Shape = "template-default"

// defaultText matches the quoted text after a function or an assignment of Go templates or Jinja
// that sets a default. Group 1 is the text with its quotes.
var defaultText = regexp.MustCompile(`(?:\b(?:default|d|coalesce|or)\b|:=|[^=!<>]=)[ \t]*\(?[ \t]*` +
	`(?:[.$][A-Za-z0-9_.]*[ \t]+)*` + "(\"[^\"\\\\{}]*\"|'[^'\\\\{}]*'|`[^`{}]*`)")

// actions yields the offsets of the actions of a template in a text: what is between {{ and }}.
func actions(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for at := 0; ; {
			open := strings.Index(text[at:], "{{")
			if open < 0 {
				return
			}
			start := at + open + len("{{")
			length := strings.Index(text[start:], "}}")
			if length < 0 || !yield(start, start+length) {
				return
			}
			at = start + length
		}
	}
}

// defaultRef is a quoted reference in an action.
type defaultRef struct {
	start, end int // with the quotes
	followed   site.Followed
	reference  image.Reference
}

// defaultsIn returns the defaults in the action at the offsets that are whole references to
// followed repositories.
func defaultsIn(d *document, text string, start, end int) []defaultRef {
	var found []defaultRef
	for _, match := range defaultText.FindAllStringSubmatchIndex(text[start:end], -1) {
		from, to := start+match[2], start+match[3]
		_, name, after := lex.CutReference(text[from+1 : to-1])
		if followed, reference, ok := followedReference(d, name, wordImage); ok && after == "" && len(name) == to-from-2 {
			found = append(found, defaultRef{from, to, followed, reference})
		}
	}
	return found
}

// findTemplateDefault inspects a scalar with actions of a template in it.
func findTemplateDefault(d *document, out *sink, n *yaml.Node) bool {
	if !strings.Contains(n.Value, "{{") || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return false
	}
	var refs []defaultRef
	value := d.scalar(n).Value()
	for start, end := range actions(value) {
		refs = append(refs, defaultsIn(d, value, start, end)...)
	}
	if len(refs) > maxWords {
		return false
	}
	for _, ref := range refs {
		addDefault(d, out, n, ref)
	}
	return len(refs) > 0
}

// addDefault adds the site of a default in a scalar, which may have several.
func addDefault(d *document, out *sink, n *yaml.Node, ref defaultRef) {
	value := d.scalar(n).Value()
	out.addPart(site.NewReference(shapeTemplateDefault, d.scalar(n), ref.followed, ref.reference,
		value[:ref.start+1], value[ref.end-1:]), d.key())
}

// findAction inspects an action of a template in a file that happens to be valid YAML: {{ .x }}
// is a mapping whose key is a mapping. Its texts are the words of the action.
func findAction(d *document, out *sink, key *yaml.Node) {
	for i := 0; i < len(key.Content); i += 2 {
		n := key.Content[i]
		if !node.IsScalar(n) {
			continue
		}
		value := d.scalar(n).Value()
		defaults := defaultsIn(d, value, 0, len(value))
		for _, ref := range defaults {
			addDefault(d, out, n, ref)
		}
		if len(defaults) == 0 && statesVersion(value) {
			for _, m := range followedOnLine(d, value) {
				out.refuse(d.scalar(n), m.component, "%s", m.inTemplate())
			}
		}
	}
}

// quotedVersion matches a quoted text that may be a tag.
var quotedVersion = regexp.MustCompile("[\"'`]v?[0-9][A-Za-z0-9_.-]*[\"'`]")

// statesVersion reports whether an action that names a repository may have its version: after a
// colon or at sign, or as a text of its own.
func statesVersion(action string) bool {
	if quotedVersion.MatchString(action) {
		return true
	}
	for _, word := range lex.Words(action) {
		if at := strings.LastIndexAny(word, ":@"); at > strings.LastIndexByte(word, '/') {
			return true
		}
	}
	return false
}

// findDefaultsInLine inspects the actions of a line of a template, and returns the line without
// the references that it found. A text whose quotes are also those around the action is not
// certain to be one text.
func findDefaultsInLine(d *document, out *sink, number, start int, line string) string {
	found := 0
	for from, to := range actions(line) {
		for _, ref := range defaultsIn(d, line, from, to) {
			if found++; found > maxWords {
				return line
			}
			if strings.IndexByte(line[:from], line[ref.start]) >= 0 || line[ref.start] == '`' {
				continue
			}
			n := lineScalar(d.stream, number, start+ref.start, line[ref.start:ref.end])
			out.add(site.NewReference(shapeTemplateDefault, d.scalar(n), ref.followed, ref.reference, "", ""), d.key())
			line = line[:ref.start] + strings.Repeat(" ", ref.end-ref.start) + line[ref.end:]
		}
	}
	return line
}
