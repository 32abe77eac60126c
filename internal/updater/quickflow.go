package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// flow reads a flow collection that ends on its row. It returns the offset behind
// it.
func (q *quick) flow(start, end, depth int) (*yaml.Node, int) {
	if depth > maxQuickDepth {
		return q.fail(), end
	}
	kind, closing := yaml.SequenceNode, byte(']')
	if q.data[start] == '{' {
		kind, closing = yaml.MappingNode, '}'
	}
	n := q.at0(kind, start)
	n.Style = yaml.FlowStyle
	at := q.space(start+1, end)
	if at < end && q.data[at] == closing {
		return n, at + 1
	}
	for at < end && !q.failed {
		if kind == yaml.MappingNode {
			at = q.flowKey(n, at, end)
		}
		at = q.flowValue(n, at, end, depth)
		switch {
		case q.failed || at >= end:
			return q.fail(), end
		case q.data[at] == closing:
			return n, at + 1
		case q.data[at] != ',':
			return q.fail(), end
		}
		at = q.space(at+1, end)
	}
	return q.fail(), end
}

func (q *quick) space(at, end int) int {
	for at < end && q.data[at] == ' ' {
		at++
	}
	return at
}

// flowKey reads a key and moves to its value.
func (q *quick) flowKey(m *yaml.Node, at, end int) int {
	key, after, ok := q.key(at, end)
	if !ok {
		q.failed = true
		return end
	}
	m.Content = append(m.Content, key)
	return q.space(after, end)
}

// flowValue reads a value and moves to what follows it.
func (q *quick) flowValue(parent *yaml.Node, at, end, depth int) int {
	var n *yaml.Node
	switch {
	case at >= end || q.failed:
		q.failed = true
		return end
	case q.data[at] == '{' || q.data[at] == '[':
		n, at = q.flow(at, end, depth+1)
	case q.data[at] == '"' || q.data[at] == '\'':
		n, at = q.quotedScalar(at, end)
	default:
		n, at = q.flowPlain(at, end)
	}
	parent.Content = append(parent.Content, n)
	return q.space(at, end)
}

// flowPlain reads a plain scalar of flow context: one word.
func (q *quick) flowPlain(start, end int) (*yaml.Node, int) {
	at := start
	for at < end && (isKeyByte(q.data[at]) || at > start && strings.IndexByte("@%+=", q.data[at]) >= 0 ||
		at > start && q.data[at] == ':' && at+1 < end && isKeyByte(q.data[at+1])) {
		at++
	}
	text := q.data[start:at]
	if text == "" || text[0] == '-' || text == "---" || text == "..." {
		return q.fail(), end
	}
	n := q.at0(yaml.ScalarNode, start)
	n.Value = text
	if isNull(text) {
		n.Tag = "!!null"
	}
	return n, at
}

// literal reads a literal block and moves behind it. Its lines stand deeper than
// the indentation.
func (q *quick) literal(start, indent int) *yaml.Node {
	header := q.data[start:q.rows[q.at].end]
	n := q.at0(yaml.ScalarNode, start)
	n.Style = yaml.LiteralStyle
	q.at++
	if header != "|" && header != "|-" || q.at >= len(q.rows) {
		return q.fail()
	}
	column := q.indent()
	first := q.rows[q.at]
	if column <= indent || first.first == first.end {
		return q.fail()
	}
	from := q.at
	for q.at < len(q.rows) && q.inLiteral(column) {
		q.at++
	}
	to := q.at
	for q.rows[to-1].first == q.rows[to-1].end {
		to--
	}
	if q.failed || to == len(q.rows) { // at the end there is no line break to keep
		return q.fail()
	}
	n.Value = q.join(from, to, column)
	if header == "|" {
		n.Value += "\n"
	}
	q.skip()
	if q.at < len(q.rows) && q.indent() > indent {
		return q.fail()
	}
	return n
}

// inLiteral says whether the present row belongs to a literal block.
func (q *quick) inLiteral(column int) bool {
	r := q.rows[q.at]
	if r.first == r.end { // blank: it must not have content of spaces
		width := q.lineEnd() - r.start
		q.failed = q.failed || width > column
		return !q.failed
	}
	return r.first-r.start >= column
}

// lineEnd is where the present row ends with the spaces at its end.
func (q *quick) lineEnd() int {
	if q.at+1 < len(q.rows) {
		return q.rows[q.at+1].start - 1
	}
	return len(q.data)
}

// join joins the rows of a literal block without their indentation.
func (q *quick) join(from, to, column int) string {
	var text strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			text.WriteByte('\n')
		}
		end := len(q.data)
		if i+1 < len(q.rows) {
			end = q.rows[i+1].start - 1
		}
		if start := q.rows[i].start + column; start < end {
			text.WriteString(q.data[start:end])
		}
	}
	return text.String()
}
