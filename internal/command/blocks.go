package command

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// fencedQuotes parses the quotes of GitLab between two lines ">>>". The first of an alert has its type too.
//
//   - https://docs.gitlab.com/user/markdown/#multiline-blockquote
//   - https://docs.gitlab.com/user/markdown/#alerts
type fencedQuotes struct{}

// fencedQuote is a quote that ends at a line with at least as many characters.
type fencedQuote struct {
	ast.BaseBlock
	length int
}

// Kind implements ast.Node.
func (*fencedQuote) Kind() ast.NodeKind { return ast.KindBlockquote }

// Dump implements ast.Node.
func (q *fencedQuote) Dump(source []byte, level int) { ast.DumpHelper(q, source, level, nil, nil) }

// Trigger implements parser.BlockParser.
func (fencedQuotes) Trigger() []byte { return []byte{'>'} }

// Open implements parser.BlockParser.
func (fencedQuotes) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 {
		return nil, parser.NoChildren
	}
	length := len(line[at:]) - len(bytes.TrimLeft(line[at:], ">"))
	after := line[at+length:]
	if isAlert := bytes.HasPrefix(bytes.TrimLeft(after, " \t"), []byte("[!")); length < 3 || !isAlert && !util.IsBlank(after) {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	return &fencedQuote{length: length}, parser.HasChildren
}

// Continue implements parser.BlockParser.
func (fencedQuotes) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	width, at := util.IndentWidth(line, reader.LineOffset())
	if q, is := node.(*fencedQuote); is && width < 4 && onlyOf('>', line[at:]) >= q.length {
		reader.AdvanceToEOL()
		return parser.Close
	}
	return parser.Continue | parser.HasChildren
}

// Close implements parser.BlockParser.
func (fencedQuotes) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (fencedQuotes) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (fencedQuotes) CanAcceptIndentedLine() bool { return false }

// onlyOf returns how often a character begins a line; 0 if anything but spaces follows.
func onlyOf(c byte, line []byte) int {
	rest := bytes.TrimLeft(line, string(c))
	if !util.IsBlank(rest) {
		return 0
	}
	return len(line) - len(rest)
}

// formulaBlocks parses the formulas of Gitea and Forgejo between "$$" and "$$", or "\[" and "\]".
// https://docs.gitea.com/administration/config-cheat-sheet#markdown-markdown
type formulaBlocks struct{}

// formulaBlock is a formula of several lines.
type formulaBlock struct {
	ast.BaseBlock
	closer []byte // empty: it ends on its first line
}

// Kind implements ast.Node.
func (*formulaBlock) Kind() ast.NodeKind { return ast.KindCodeBlock }

// IsRaw implements ast.Node.
func (*formulaBlock) IsRaw() bool { return true }

// Dump implements ast.Node.
func (b *formulaBlock) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }

// Trigger implements parser.BlockParser.
func (formulaBlocks) Trigger() []byte { return []byte{'$', '\\'} }

// Open implements parser.BlockParser.
func (formulaBlocks) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 {
		return nil, parser.NoChildren
	}
	var closer []byte
	switch {
	case bytes.HasPrefix(line[at:], []byte(`$$`)):
		closer = []byte(`$$`)
	case bytes.HasPrefix(line[at:], []byte(`\[`)):
		closer = []byte(`\]`)
	default:
		return nil, parser.NoChildren
	}
	if bytes.Contains(line[at+2:], closer) {
		closer = nil
	}
	reader.AdvanceToEOL()
	return &formulaBlock{closer: closer}, parser.NoChildren
}

// Continue implements parser.BlockParser.
func (formulaBlocks) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	b, is := node.(*formulaBlock)
	if !is || b.closer == nil {
		return parser.Close
	}
	line, _ := reader.PeekLine()
	width, at := util.IndentWidth(line, reader.LineOffset())
	reader.AdvanceToEOL()
	if rest, closes := bytes.CutPrefix(line[at:], b.closer); width < 4 && closes && util.IsBlank(bytes.TrimLeft(rest, "$")) {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (formulaBlocks) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (formulaBlocks) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (formulaBlocks) CanAcceptIndentedLine() bool { return false }
