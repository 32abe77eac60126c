package shapes

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/span"
)

// FindInEnv runs the shapes on lines of KEY=VALUE, which are the keys and values of one mapping.
func (f *Finder) FindInEnv(file string, content []byte, writes []Write, known Sources) (Findings, *span.Stream) {
	return f.findInText(file, content, writes, known, func(s *span.Stream) *yaml.Node {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1, Content: envPairs(s)}
	})
}

// FindInText finds what markers and write entries name in text of any language.
func (f *Finder) FindInText(file string, content []byte, writes []Write, known Sources) (Findings, *span.Stream) {
	return f.findInText(file, content, writes, known, func(s *span.Stream) *yaml.Node {
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: 1, Column: 1, Content: markedValues(s)}
	})
}

func (f *Finder) findInText(
	file string, content []byte, writes []Write, known Sources, root func(*span.Stream) *yaml.Node,
) (Findings, *span.Stream) {
	stream := span.ParseText(content, func(s *span.Stream) []*yaml.Node {
		values := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root(s)}}
		documents := []*yaml.Node{values}
		for _, w := range writes {
			documents = append(documents, matchesOf(s, values, w))
		}
		return documents
	})
	return f.Find(file, stream, writes, known), stream
}

// matchesOf returns a document with the matches of the expression of a write entry that are not
// within one of the values.
func matchesOf(s *span.Stream, values *yaml.Node, w Write) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if expression, err := regexp.Compile(w.Regex); err == nil && w.Regex != "" && expression.NumSubexp() == 1 {
		for _, match := range expression.FindAllSubmatchIndex(s.Data, maxTextMatches) {
			at := span.Span{Start: match[2], End: match[3]}
			if at.Start >= 0 && s.LineEnd(at.Start) >= at.End && scalarAround(s, values, at) == nil {
				list.Content = append(list.Content, s.TextNode(at))
			}
		}
	}
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{list}}
}

// maxTextMatches is how many matches in text that is not YAML are found: two, because only one
// is allowed.
const maxTextMatches = 2

// maxText is how many values of a text are read.
const maxText = 10_000

// envLine matches a line of an env file up to its value. Group 1 is the key.
// https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/#env-file-syntax
var envLine = regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*`)

// envPairs returns the keys and values of the lines of KEY=VALUE. Values on several lines, and those
// with escapes, are left out.
func envPairs(s *span.Stream) []*yaml.Node {
	var pairs []*yaml.Node
	marker := ""
	var open byte // the quote of a value that ends on a later line
	for _, start := range s.Lines() {
		line := string(s.Data[start:s.LineEnd(start)])
		trimmed := strings.TrimSpace(line)
		if open != 0 {
			if strings.IndexByte(line, open) >= 0 {
				open = 0
			}
			continue
		}
		above := marker
		marker = ""
		if text, isComment := strings.CutPrefix(trimmed, "#"); isComment {
			marker = markerText(strings.TrimSpace(text))
			continue
		}
		match := envLine.FindStringSubmatchIndex(line)
		if match == nil || len(pairs) > maxText {
			continue
		}
		from, to, rest, closed := envValue(line, match[1])
		if !closed {
			open = line[match[1]]
			continue
		}
		if strings.Contains(line[from:to], `\`) {
			continue
		}
		value := s.TextNode(span.Span{Start: start + from, End: start + to})
		value.LineComment = above
		if comment, found := strings.CutPrefix(strings.TrimSpace(rest), "#"); found {
			value.LineComment = strings.TrimSpace(comment)
		}
		pairs = append(pairs, s.TextNode(span.Span{Start: start + match[2], End: start + match[3]}), value)
	}
	return pairs
}

// envValue returns the offsets of a value, without its quotes, and what follows it. It returns false
// if the value does not end on the line.
func envValue(line string, at int) (from, to int, rest string, closed bool) {
	if at < len(line) && (line[at] == '"' || line[at] == '\'') {
		end := strings.IndexByte(line[at+1:], line[at])
		if end < 0 {
			return 0, 0, "", false
		}
		return at + 1, at + 1 + end, line[at+end+2:], true
	}
	to = len(line)
	for i := at; i < len(line); i++ {
		if line[i] == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
			to = i
			break
		}
	}
	rest = line[to:]
	return at, at + len(strings.TrimRight(line[at:to], " \t\r")), rest, true
}

// markerText returns the text of a comment if it is a marker. One on a line of its own is for
// the next line.
func markerText(comment string) string {
	if _, found := lex.ParseMarker(comment); found {
		return comment
	}
	return ""
}

// textComment matches a comment with a marker at the end of a line, in the languages that
// configure deployments. Group 1 is the text of the comment.
var textComment = regexp.MustCompile(`(?:#|//|--|;|/\*)[ \t]*((?:` + lex.OwnMarker + `|\{"\$imagepolicy").*?)[ \t]*(?:\*/)?[ \t\r]*$`)

var (
	// quotedText matches a quoted text.
	quotedText = regexp.MustCompile(`"([^"\\]*)"|'([^'\\]*)'`)
	// bareText matches a value without quotes after the first separator.
	bareText = regexp.MustCompile(`^[ \t]*([A-Za-z0-9_.-]+)[ \t]*[=:][ \t]*([^\s"'{}\[\](),;]+)[ \t]*[,;]?[ \t]*$`)
	// isKey matches what follows the name of a key in quotes.
	isKey = regexp.MustCompile(`^[ \t]*[:=]`)
)

// markedValues returns the value of each line with a marker: in a comment at its end, or on the
// line before. A line without a value, or with several that may be the marked one, has null.
func markedValues(s *span.Stream) []*yaml.Node {
	var values []*yaml.Node
	if !lex.MayHaveMarkers(s.Data) {
		return nil
	}
	above := ""
	for _, start := range s.Lines() {
		line := string(s.Data[start:s.LineEnd(start)])
		comment, end := above, len(line)
		above = ""
		if match := textComment.FindStringSubmatchIndex(line); match != nil {
			comment, end = markerText(line[match[2]:match[3]]), match[0]
			if strings.TrimSpace(line[:end]) == "" {
				above = comment
				continue
			}
		}
		if comment == "" || len(values) > maxText {
			continue
		}
		at, found := markedValue(line[:end])
		value := s.TextNode(span.Span{Start: start + at.Start, End: start + at.End})
		value.LineComment = comment
		if !found {
			value.Tag = nullTag
		}
		values = append(values, value)
	}
	return values
}

const nullTag = "!!null"

// markedValue returns the value of a line: its only quoted text that is not a key, or the only one
// of them that is a reference with a version, or the bare value after the key.
func markedValue(line string) (span.Span, bool) {
	var all, references []span.Span
	for _, match := range quotedText.FindAllStringSubmatchIndex(line, -1) {
		if isKey.MatchString(line[match[1]:]) {
			continue
		}
		at := span.Span{Start: match[0] + 1, End: match[1] - 1}
		all = append(all, at)
		_, name, _ := lex.CutReference(line[at.Start:at.End])
		if r, err := image.Parse(name); err == nil && (r.Tag != "" || r.Digest != "") {
			references = append(references, at)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], true
	case len(references) == 1:
		return references[0], true
	case len(all) > 0:
		return span.Span{}, false
	}
	if match := bareText.FindStringSubmatchIndex(line); match != nil {
		return span.Span{Start: match[4], End: match[5]}, true
	}
	return span.Span{}, false
}
