package updater

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Reasons why the byte span of a scalar cannot be determined.
var (
	errSpan      = errors.New("the scalar's bytes cannot be told for certain")
	errManyLines = errors.New("the value is spread over several lines")
)

// span returns the byte span of a scalar in the stream, including quotes but
// without anchor and tag. For a block scalar it is the text of its single line.
// The bytes are decoded and compared with the parser's value.
func (s *stream) span(n *yaml.Node) (span, error) {
	at, err := s.offset(n.Line, n.Column)
	if err != nil {
		return span{}, err
	}
	at = skipProperties(s.data, at)
	switch {
	case n.Kind != yaml.ScalarNode:
		return span{}, errSpan
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
func (s *stream) plainSpan(n *yaml.Node, at int) (span, error) {
	if n.Value == "" {
		return s.missingSpan(at)
	}
	found := span{at, at + len(n.Value)}
	if found.end > len(s.data) {
		return span{}, errSpan
	}
	if string(s.data[found.start:found.end]) != n.Value {
		if strings.ContainsAny(n.Value, " \n") {
			return span{}, errManyLines
		}
		return span{}, errSpan
	}
	return found, nil
}

// missingSpan returns the empty span after a key's colon where a value could
// be. The parser reports that position or, in flow context, the position of the
// next token.
func (s *stream) missingSpan(at int) (span, error) {
	for at > 0 && isBlank(s.data[at-1]) {
		at--
	}
	if at == 0 || s.data[at-1] != ':' {
		return span{}, errSpan
	}
	return span{at, at}, nil
}

// quotedSpan returns the span of a quoted scalar.
func (s *stream) quotedSpan(n *yaml.Node, at int, quote byte) (span, error) {
	if at >= len(s.data) || s.data[at] != quote {
		return span{}, errSpan
	}
	end := quotedEnd(s.data, at, quote)
	if end < 0 {
		return span{}, errSpan
	}
	found := span{at, end}
	if !spells(s.data[at:end], n.Value) {
		return span{}, errSpan
	}
	return found, nil
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

// spells reports whether a quoted scalar has the value. The parser, run on the
// scalar alone, handles escapes and line breaks.
func spells(raw []byte, value string) bool {
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
