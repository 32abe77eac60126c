package updater

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parser that everything is proved with takes most of the time of a scan over
// a large tree. Nearly all manifests keep to a small part of YAML: ASCII, block
// mappings and lists, scalars on one line, literal blocks, flow collections on
// one line. quick reads that part into the same nodes, some ten times faster, and
// gives up on everything else, which the full parser then reads. Its nodes have no
// comments, and of tags only what tells text from null. A fuzz test holds it
// against the full parser, and a rewritten file is always parsed by the full one
// and compared with these nodes: where the two ever differed, the file would be
// refused.
type quick struct {
	data   string
	rows   []row
	at     int // the row that is read
	nodes  []yaml.Node
	failed bool
}

// row is a line: where it starts, where its first character that is no space
// stands, and where it ends, without spaces at its end.
type row struct{ start, first, end int }

// maxQuickDepth bounds the recursion. Manifests have some twenty levels.
const maxQuickDepth = 64

// parseQuick parses the documents of a stream, or says that it cannot.
func parseQuick(data []byte, lines []int) (documents []*yaml.Node, ok bool) {
	for _, c := range data {
		if c < ' ' && c != '\n' || c > '~' {
			return nil, false
		}
	}
	q := &quick{data: string(data)}
	q.split(lines)
	for !q.failed {
		q.skip()
		if q.at == len(q.rows) {
			break
		}
		if q.indent() == 0 && q.text() == "---" {
			if len(documents) == 0 && q.at > 0 && q.skippedContent() {
				return nil, false
			}
			q.at++
			q.skip()
		} else if len(documents) > 0 {
			return nil, false
		}
		if q.at == len(q.rows) {
			return nil, false
		}
		root := q.block(q.indent(), 0)
		documents = append(documents, q.node(yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}))
	}
	return documents, !q.failed
}

// skippedContent says whether a directive stood before the first document.
func (q *quick) skippedContent() bool { return strings.HasPrefix(q.data, "%") }

// split makes the rows.
func (q *quick) split(lines []int) {
	q.rows = make([]row, 0, len(lines))
	for i, start := range lines {
		end := len(q.data)
		if i+1 < len(lines) {
			end = lines[i+1] - 1
		}
		r := row{start: start, first: start, end: end}
		for r.end > start && q.data[r.end-1] == ' ' {
			r.end--
		}
		for r.first < r.end && q.data[r.first] == ' ' {
			r.first++
		}
		q.rows = append(q.rows, r)
	}
}

// fail gives up.
func (q *quick) fail() *yaml.Node {
	q.failed = true
	return nil
}

// node makes a node. Nodes are allocated by the dozen: a row of a manifest has
// two, and a few have more.
func (q *quick) node(n yaml.Node) *yaml.Node {
	if len(q.nodes) == cap(q.nodes) {
		q.nodes = make([]yaml.Node, 0, min(2*(len(q.rows)-q.at)+4, 64))
	}
	q.nodes = append(q.nodes, n)
	return &q.nodes[len(q.nodes)-1]
}

// skip moves to the next row with something that is no comment.
func (q *quick) skip() {
	for q.at < len(q.rows) {
		r := q.rows[q.at]
		if r.first < r.end && q.data[r.first] != '#' {
			return
		}
		q.at++
	}
}

// text is what stands on the row, without the space around it.
func (q *quick) text() string { return q.data[q.rows[q.at].first:q.rows[q.at].end] }

func (q *quick) indent() int { return q.rows[q.at].first - q.rows[q.at].start }

// marker says whether the row starts or ends a document, or may.
func (q *quick) marker() bool {
	text := q.text()
	return q.indent() == 0 && (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") || text[0] == '%')
}

// block reads the collection that starts on the present row.
func (q *quick) block(indent, depth int) *yaml.Node {
	if depth > maxQuickDepth || q.failed || q.marker() {
		return q.fail()
	}
	if isEntry(q.text()) {
		return q.sequence(indent, depth)
	}
	return q.mapping(q.rows[q.at].first, indent, depth)
}

// isEntry says whether the text is an entry of a list.
func isEntry(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

// next moves to the next row of a collection. False: the collection ends.
func (q *quick) next(indent int) bool {
	q.skip()
	switch {
	case q.failed || q.at == len(q.rows) || q.indent() < indent:
		return false
	case q.indent() > indent:
		q.failed = true
		return false
	case q.marker():
		if q.text() != "---" {
			q.failed = true
		}
		return false
	default:
		return true
	}
}

// sequence reads a list whose dashes stand at the indentation.
func (q *quick) sequence(indent, depth int) *yaml.Node {
	n := q.at0(yaml.SequenceNode, q.rows[q.at].first)
	for q.next(indent) && isEntry(q.text()) {
		r := q.rows[q.at]
		start := r.first + 1
		for start < r.end && q.data[start] == ' ' {
			start++
		}
		n.Content = append(n.Content, q.entry(start, indent, depth))
	}
	return n
}

// entry reads one entry of a list.
func (q *quick) entry(start, indent, depth int) *yaml.Node {
	r := q.rows[q.at]
	if start >= r.end || q.data[start] == '#' {
		q.at++
		q.skip()
		if q.at == len(q.rows) || q.indent() <= indent {
			return q.fail()
		}
		return q.block(q.indent(), depth+1)
	}
	if isEntry(q.data[start:r.end]) || depth > maxQuickDepth {
		return q.fail()
	}
	if _, _, ok := q.key(start, r.end); ok {
		return q.mapping(start, start-r.start, depth+1)
	}
	return q.value(start, indent)
}

// mapping reads a mapping whose first key starts at the offset and whose others
// stand at the indentation.
func (q *quick) mapping(start, indent, depth int) *yaml.Node {
	n := q.at0(yaml.MappingNode, start)
	for {
		r := q.rows[q.at]
		key, after, ok := q.key(start, r.end)
		if !ok || isEntry(q.data[start:r.end]) {
			return q.fail()
		}
		for after < r.end && q.data[after] == ' ' {
			after++
		}
		n.Content = append(n.Content, key, q.pair(key, after, indent, depth))
		if !q.next(indent) {
			return n
		}
		start = q.rows[q.at].first
	}
}

// pair reads the value of a key. It starts at the offset, or on the next row.
func (q *quick) pair(key *yaml.Node, start, indent, depth int) *yaml.Node {
	r := q.rows[q.at]
	if start < r.end && q.data[start] != '#' {
		return q.value(start, indent)
	}
	null := q.null(key, r)
	q.at++
	q.skip()
	switch {
	case q.at == len(q.rows) || q.indent() < indent || q.marker():
		return null
	case q.indent() > indent:
		return q.block(q.indent(), depth+1)
	case isEntry(q.text()):
		return q.sequence(indent, depth+1)
	default:
		return null
	}
}

// null is the value that is not there: it stands right behind the colon.
func (q *quick) null(key *yaml.Node, r row) *yaml.Node {
	colon := r.start + key.Column - 1 + len(key.Value)
	if key.Style != 0 {
		colon += len(`""`)
	}
	for q.data[colon] != ':' {
		colon++
	}
	n := q.at0(yaml.ScalarNode, colon+1)
	n.Tag = "!!null"
	return n
}

// at0 makes a node that starts on the present row.
func (q *quick) at0(kind yaml.Kind, start int) *yaml.Node {
	n := q.node(yaml.Node{Kind: kind, Tag: "!!str", Line: q.at + 1, Column: start - q.rows[q.at].start + 1})
	switch kind {
	case yaml.MappingNode:
		n.Tag, n.Content = "!!map", make([]*yaml.Node, 0, 8)
	case yaml.SequenceNode:
		n.Tag, n.Content = "!!seq", make([]*yaml.Node, 0, 4)
	}
	return n
}

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
