package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// key reads a key with its colon. After is the offset behind the colon.
func (q *quick) key(start, end int) (n *yaml.Node, after int, ok bool) {
	at, inner, style := start, span{start, start}, yaml.Style(0)
	if at < end && (q.data[at] == '"' || q.data[at] == '\'') {
		inner, style = q.quoted(at, end)
		at = inner.end + 1
	} else {
		for at < end && isKeyByte(q.data[at]) {
			at++
		}
		inner.end = at
	}
	if inner.end <= inner.start || at >= end || q.data[at] != ':' || at-start > 256 ||
		at+1 < end && q.data[at+1] != ' ' || q.data[start] == '-' || q.data[start] == '<' {
		return nil, 0, false
	}
	n = q.at0(yaml.ScalarNode, start)
	n.Value, n.Style = q.data[inner.start:inner.end], style
	if style == 0 && isNull(n.Value) {
		n.Tag = "!!null"
	}
	return n, at + 1, true
}

// isKeyByte says whether a plain key may have the byte.
func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '.' || c == '/' || c == '-'
}

// quoted returns what stands between quotes, without escapes. The span is empty
// where there are some.
func (q *quick) quoted(start, end int) (inner span, style yaml.Style) {
	quote := q.data[start]
	style = yaml.SingleQuotedStyle
	if quote == '"' {
		style = yaml.DoubleQuotedStyle
	}
	length := strings.IndexByte(q.data[start+1:end], quote)
	if length < 0 || quote == '"' && strings.IndexByte(q.data[start+1:start+1+length], '\\') >= 0 {
		q.failed = true
		return span{start, start}, style
	}
	inner = span{start + 1, start + 1 + length}
	if quote == '\'' && inner.end+1 < end && q.data[inner.end+1] == quote {
		q.failed = true
	}
	return inner, style
}

// value reads a value on the present row and moves behind it.
func (q *quick) value(start, indent int) *yaml.Node {
	var n *yaml.Node
	var end int
	switch c := q.data[start]; {
	case c == '"' || c == '\'':
		n, end = q.quotedScalar(start, q.rows[q.at].end)
	case c == '|':
		return q.literal(start, indent)
	case c == '{' || c == '[':
		n, end = q.flow(start, q.rows[q.at].end, 0)
	default:
		n, end = q.plain(start, q.rows[q.at].end)
	}
	if q.failed || !q.endsRow(end) {
		return q.fail()
	}
	q.at++
	q.skip()
	if q.at < len(q.rows) && q.indent() > indent {
		return q.fail()
	}
	return n
}

// endsRow says whether nothing but a comment follows.
func (q *quick) endsRow(at int) bool {
	rest := q.data[at:q.rows[q.at].end]
	return rest == "" || rest[0] == ' ' && strings.TrimLeft(rest, " ")[0] == '#'
}

func (q *quick) quotedScalar(start, end int) (*yaml.Node, int) {
	inner, style := q.quoted(start, end)
	n := q.at0(yaml.ScalarNode, start)
	n.Value, n.Style = q.data[inner.start:inner.end], style
	return n, inner.end + 1
}

// plain reads a plain scalar of block context.
func (q *quick) plain(start, end int) (*yaml.Node, int) {
	text := q.data[start:end]
	if at := strings.Index(text, " #"); at >= 0 {
		text = strings.TrimRight(text[:at], " ")
	}
	first := text[0]
	if !isKeyByte(first) && strings.IndexByte("$(+=~^;\\", first) < 0 || isEntry(text) ||
		strings.HasSuffix(text, ":") || strings.Contains(text, ": ") || text == "=" {
		return q.fail(), end
	}
	n := q.at0(yaml.ScalarNode, start)
	n.Value = text
	if isNull(text) {
		n.Tag = "!!null"
	}
	return n, start + len(text)
}

// isNull says whether the full parser reads a plain scalar as null.
func isNull(s string) bool {
	switch s {
	case "~", "null", "Null", "NULL":
		return true
	default:
		return false
	}
}
