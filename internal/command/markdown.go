package command

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of a comment that can have a command. Without them, the time of the parser grows with the
// square of some of these, or faster: 16 KiB of nested lists and empty lines take 10 seconds, and
// 64 KiB of a wide table take 18. Within them, all comments of the benchmark take less than 0.1.
const (
	maxComment  = 16 << 10 // bytes
	maxLines    = 1000
	maxPrefixes = 100    // lines that begin with the prefix
	maxNesting  = 20     // quotes and lists that one line opens
	maxBrackets = 1000   // of links and tags
	maxCells    = 20_000 // lines x the cells of the widest one
)

// line is a line of a comment that begins with the prefix.
type line struct {
	start, stop int
	text        string // what follows the prefix, without HTML comments
	markup      bool   // it contains other HTML
}

// commandLines returns the lines that every forge displays as plain text of the author, and that
// begin with the prefix.
func commandLines(comment string) []line {
	source := normalized(comment)
	lines := candidates(source)
	if len(lines) == 0 || !readable(source) {
		return nil
	}
	for _, d := range dialects() {
		if d.differs == nil || d.differs.Match(source) {
			lines = d.visible(source, lines)
		}
	}
	return lines
}

// normalized returns a comment with the line endings of CommonMark as "\n".
// https://spec.commonmark.org/0.31.2/#line-ending
func normalized(comment string) []byte {
	comment = strings.ReplaceAll(strings.ReplaceAll(comment, "\r\n", "\n"), "\r", "\n")
	return []byte(strings.TrimRight(comment, "\n") + "\n")
}

// candidates returns the first lines that begin with the prefix, wherever they are.
func candidates(source []byte) []line {
	var found []line
	start := 0
	for text := range bytes.Lines(source) {
		stop := start + len(text) - 1 // without its "\n"
		rest, begins := bytes.CutPrefix(source[start:stop], []byte(Prefix))
		if next, _ := utf8.DecodeRune(rest); begins && (len(rest) == 0 || unicode.IsSpace(next)) { // as Parse separates words
			found = append(found, line{start: start, stop: stop})
		}
		if start = stop + 1; len(found) == maxPrefixes {
			break
		}
	}
	return found
}

// containers are the markers of the quotes and lists that a line opens.
var containers = regexp.MustCompile(`^(?:[ \t]*(?:>|[-+*:]|[0-9]{1,9}[.)]))+`)

// frontMatter is a block at the beginning of a comment that GitLab shows as code, and Gitea as a
// table.
// https://docs.gitlab.com/user/markdown/#front-matter
var frontMatter = regexp.MustCompile(
	`\A(?:.*coding:.*\n)?\s*(?:---(?s:.*)\n---|\+\+\+(?s:.*)\n\+\+\+|;;;(?s:.*)\n;;;)`)

// readable reports whether a comment is within the limits, and does not begin with front matter.
func readable(source []byte) bool {
	brackets := 0
	for _, one := range []string{"[", "]", "<"} {
		brackets += bytes.Count(source, []byte(one))
	}
	if len(source) > maxComment || brackets > maxBrackets {
		return false
	}
	cells, lines := 0, 0
	for text := range bytes.Lines(source) {
		lines++
		cells = max(cells, bytes.Count(text, []byte("|")))
		nested := 0
		for _, c := range containers.Find(text) {
			if !strings.ContainsRune(" \t0123456789", rune(c)) {
				nested++
			}
		}
		if nested > maxNesting {
			return false
		}
	}
	return lines <= maxLines && lines*cells <= maxCells && !frontMatter.Match(source)
}

// dialect is the Markdown of a forge.
type dialect struct {
	// differs matches the comments that the forge may parse differently from GitHub. Nil: all.
	differs *regexp.Regexp
	parser  parser.Parser
}

// dialects returns the Markdown of all forges, so that a comment has the same command on each.
//
//   - GitHub: https://github.github.com/gfm/ and footnotes
//   - GitLab: https://docs.gitlab.com/user/markdown/
//   - Gitea and Forgejo: https://docs.gitea.com/usage/markdown, which use this parser
func dialects() []dialect {
	github := goldmark.WithExtensions(extension.GFM, extension.Footnote)
	descriptions := goldmark.WithExtensions(extension.DefinitionList)
	quotes := parser.WithBlockParsers(util.Prioritized(fencedQuotes{}, 750)) // before quotes, which have 800
	formulas := parser.WithBlockParsers(util.Prioritized(formulaBlocks{}, 750))
	gitlab := goldmark.New(github, descriptions, goldmark.WithParserOptions(quotes))
	gitea := goldmark.New(github, descriptions, goldmark.WithParserOptions(formulas, parser.WithAttribute()))
	return []dialect{
		{parser: goldmark.New(github).Parser()},
		{parser: gitlab.Parser(), differs: regexp.MustCompile(`>>>|(?m:^[ \t>*+-]*:)`)},
		{parser: gitea.Parser(), differs: regexp.MustCompile(`\$\$|\\\[|(?m:^[ \t>*+-]*:)`)},
	}
}

// visible returns those of the lines that readers see as plain text in a paragraph: at the top
// level, or in a list, but not in a quote, code, a table, a footnote, a formula, or HTML.
func (d dialect) visible(source []byte, lines []line) []line {
	w := walker{source: source, lines: lines}
	// The walker returns no error.
	_ = ast.Walk(d.parser.Parse(text.NewReader(source)), w.visit)
	for i := range w.found {
		w.found[i].read(source, w.comments, w.markup)
	}
	return w.found
}

// walker walks through a comment in its order.
type walker struct {
	source           []byte
	lines, found     []line
	html             openElements
	comments, markup []text.Segment // HTML in text: comments, and the rest
	block            ast.Node       // the last one of which the spans were found
	spans            []text.Segment
}

func (w *walker) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.HTMLBlock:
		w.html.read(joined(w.source, n.Lines(), n.ClosureLine))
	case *ast.RawHTML:
		whole := joined(w.source, n.Segments)
		w.html.read(whole)
		if bytes.HasPrefix(whole, []byte("<!--")) {
			w.comments = append(w.comments, n.Segments.Sliced(0, n.Segments.Len())...)
		} else {
			w.markup = append(w.markup, n.Segments.Sliced(0, n.Segments.Len())...)
		}
	case *ast.Text:
		i, _ := slices.BinarySearchFunc(w.lines, n.Segment.Start, func(l line, at int) int { return cmp.Compare(l.start, at) })
		begins := i < len(w.lines) && w.lines[i].start < n.Segment.Stop
		if begins && w.html.none() && ofAuthor(n.Parent()) && !w.inSpan(n.Parent(), w.lines[i].start) {
			w.found = append(w.found, w.lines[i])
		}
	}
	return ast.WalkContinue, nil
}

// ofAuthor reports whether the text of a block is the author's own: a paragraph, at the top level
// or in a list. A heading is one too, because the "--" of a signature below makes one of a line.
func ofAuthor(block ast.Node) bool {
	switch block.Kind() {
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
	default:
		return false // emphasis, links, table cells, …
	}
	for n := block.Parent(); n != nil; n = n.Parent() {
		if k := n.Kind(); k != ast.KindDocument && k != ast.KindList && k != ast.KindListItem {
			return false
		}
	}
	return true
}

// inSpan reports whether a part of a block may be in something that begins on an earlier line, ends
// on a later one, and is not displayed as text, but that the parser does not know: a formula, or a
// declaration in lower case. The rules of the forges for formulas differ; these match all of them.
// https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/writing-mathematical-expressions
// https://spec.commonmark.org/0.31.2/#declaration
func (w *walker) inSpan(block ast.Node, at int) bool {
	if w.block != block {
		w.block, w.spans = block, nil
		lines := block.Lines()
		start, stop := lines.At(0).Start, lines.At(lines.Len()-1).Stop
		for _, delimiters := range [][2]string{
			{`\$\S`, `\$\$|\S\$(?:[^0-9]|\z)`},
			{`\$\$`, `\$\$`},
			{`\\[\[(]`, `\\[\])]`},
			{`<![a-z]`, `>`},
		} {
			opens := regexp.MustCompile(delimiters[0]).FindIndex(w.source[start:stop])
			closes := regexp.MustCompile(delimiters[1]).FindAllIndex(w.source[start:stop], -1)
			if opens != nil && closes != nil {
				w.spans = append(w.spans, text.NewSegment(start+opens[0], start+closes[len(closes)-1][1]))
			}
		}
	}
	return slices.ContainsFunc(w.spans, func(s text.Segment) bool { return s.Start < at && at < s.Stop })
}

// read sets the text of a line.
func (l *line) read(source []byte, comments, markup []text.Segment) {
	l.markup = slices.ContainsFunc(markup, func(s text.Segment) bool { return s.Start < l.stop && s.Stop > l.start })
	var shown []byte
	at := l.start + len(Prefix)
	for _, c := range comments { // in the order of the source
		if c.Start >= at && c.Start < l.stop {
			shown = append(append(shown, source[at:c.Start]...), ' ')
			at = min(c.Stop, l.stop)
		}
	}
	l.text = strings.TrimSpace(string(append(shown, source[at:l.stop]...)))
}

// joined returns the text of segments.
func joined(source []byte, segments *text.Segments, more ...text.Segment) []byte {
	var all []byte
	for i := range segments.Len() {
		one := segments.At(i)
		all = append(all, one.Value(source)...)
	}
	for _, one := range more {
		if one.Start >= 0 {
			all = append(all, one.Value(source)...)
		}
	}
	return all
}
