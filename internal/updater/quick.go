package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
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
