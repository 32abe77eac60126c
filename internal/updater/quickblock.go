package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

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
