package span

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// Scalar is one scalar of a stream.
type Scalar struct {
	Stream *Stream
	Node   *yaml.Node
}

// Value returns the value of the scalar, or "" if it is null. It excludes the
// trailing line breaks of a block scalar.
func (s Scalar) Value() string {
	if s.Node.Tag == "!!null" {
		return ""
	}
	if isBlock(s.Node) {
		return strings.TrimRight(s.Node.Value, "\n")
	}
	return s.Node.Value
}

func isBlock(n *yaml.Node) bool {
	return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// Position returns where the scalar's text starts in the file. If the byte
// offset is unknown, it returns the position reported by the parser.
func (s Scalar) Position(file string) edit.Position {
	unknown := edit.Position{File: file, Line: s.Node.Line, Column: s.Node.Column}
	at, err := s.Stream.Span(s.Node)
	if err != nil {
		at.Start, err = s.Stream.offset(s.Node.Line, s.Node.Column)
	}
	if err != nil {
		return unknown
	}
	whole, offset, err := s.Stream.inFile(at.Start)
	if err != nil {
		return unknown
	}
	return whole.Position(file, offset)
}

// RestOfLine returns the text after the scalar on its line, and true. If the end
// of the value is unknown, and for a block scalar, it returns the rest of the
// line on which the value starts, and false.
func (s Scalar) RestOfLine() (rest []byte, afterValue bool) {
	at, err := s.Stream.offset(s.Node.Line, s.Node.Column)
	if err != nil {
		return nil, false
	}
	if s.Node.Kind == yaml.ScalarNode && !isBlock(s.Node) {
		if found, err := s.Stream.Span(s.Node); err == nil {
			at, afterValue = found.End, true
		}
	}
	return s.Stream.Data[at:s.Stream.LineEnd(at)], afterValue
}

// Reasons why the byte span of a scalar cannot be determined.
var (
	errSpan      = errors.New("the position of the value in the file is uncertain")
	errManyLines = errors.New("the value is spread over several lines")
)

// Span returns the byte span of a scalar in the stream, including quotes but
// without anchor and tag. For a block scalar it is the text of its single line.
// The bytes are decoded and compared with the parser's value.
func (s *Stream) Span(n *yaml.Node) (Span, error) {
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return Span{}, err
	}
	if s.IsText() && at+len(n.Value) <= len(s.Data) {
		return Span{at, at + len(n.Value)}, nil
	}
	at = skipProperties(s.Data, at)
	switch {
	case n.Kind != yaml.ScalarNode:
		return Span{}, errSpan
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.blockSpan(n, at)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return s.quotedSpan(n, at, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return s.quotedSpan(n, at, '\'')
	default:
		return s.plainSpan(n, at)
	}
}

// skipProperties advances past anchors and tags and the space and comments
// after them. Without a property it does not advance, because the parser's
// position is then exact.
func skipProperties(data []byte, at int) int {
	for at < len(data) && (data[at] == '&' || data[at] == '!') {
		for at < len(data) && !isSpace(data[at:]) {
			at++
		}
		at = skipSpace(data, at)
	}
	return at
}

// skipSpace advances past blanks, line breaks and comments.
func skipSpace(data []byte, at int) int {
	for at < len(data) {
		switch {
		case data[at] == '#':
			for at < len(data) && lineBreak(data[at:]) == 0 {
				at++
			}
		case isSpace(data[at:]):
			at += max(1, lineBreak(data[at:]))
		default:
			return at
		}
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isSpace(data []byte) bool { return isBlank(data[0]) || lineBreak(data) > 0 }

// plainSpan returns the span of a plain scalar on one line, whose text equals
// its value.
func (s *Stream) plainSpan(n *yaml.Node, at int) (Span, error) {
	if n.Value == "" {
		return s.missingSpan(at)
	}
	found := Span{at, at + len(n.Value)}
	if found.End > len(s.Data) {
		return Span{}, errSpan
	}
	if string(s.Data[found.Start:found.End]) != n.Value {
		if strings.ContainsAny(n.Value, " \n") {
			return Span{}, errManyLines
		}
		return Span{}, errSpan
	}
	return found, nil
}

// missingSpan returns the empty span after a key's colon where a value could
// be. The parser reports that position or, in flow context, the position of the
// next token.
func (s *Stream) missingSpan(at int) (Span, error) {
	for at > 0 && isBlank(s.Data[at-1]) {
		at--
	}
	if at == 0 || s.Data[at-1] != ':' {
		return Span{}, errSpan
	}
	return Span{at, at}, nil
}

// blockSpan returns the span of a block scalar's text if the text is a single
// line.
func (s *Stream) blockSpan(n *yaml.Node, at int) (Span, error) {
	value := strings.TrimRight(n.Value, "\n")
	if value == "" {
		return Span{}, errSpan
	}
	lines, _, err := s.blockLines(at, value)
	if err != nil || len(lines) > 1 {
		return Span{}, errManyLines
	}
	return lines[0], nil
}

// quotedSpan returns the span of a quoted scalar.
func (s *Stream) quotedSpan(n *yaml.Node, at int, quote byte) (Span, error) {
	if at >= len(s.Data) || s.Data[at] != quote {
		return Span{}, errSpan
	}
	end := quotedEnd(s.Data, at, quote)
	if end < 0 {
		return Span{}, errSpan
	}
	if !hasValue(s.Data[at:end], n.Value) {
		return Span{}, errSpan
	}
	return Span{at, end}, nil
}

// quotedEnd returns the offset after the closing quote, or -1.
func quotedEnd(data []byte, at int, quote byte) int {
	for i := at + 1; i < len(data); i++ {
		switch {
		case data[i] == '\\' && quote == '"':
			i++
		case data[i] != quote:
		case quote == '\'' && i+1 < len(data) && data[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// hasValue reports whether a quoted scalar has the value. The parser, run on the
// scalar alone, handles escapes and line breaks.
func hasValue(raw []byte, value string) bool {
	inner := raw[1 : len(raw)-1]
	if !bytes.ContainsAny(inner, "\\'\n\r\t") && !bytes.ContainsFunc(inner, isWideBreak) {
		return string(inner) == value
	}
	documents, err := parse(raw)
	return err == nil && len(documents) == 1 && len(documents[0].Content) == 1 &&
		documents[0].Content[0].Value == value
}

// isWideBreak reports whether the parser treats a non-ASCII character as a line
// break.
func isWideBreak(r rune) bool {
	return r >= utf8.RuneSelf && (r == '\u0085' || r == '\u2028' || r == '\u2029')
}
