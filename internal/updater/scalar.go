package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// scalar is one scalar of a stream.
type scalar struct {
	stream *stream
	node   *yaml.Node
}

// value returns the value of the scalar, or "" if it is null. It excludes the
// trailing line breaks of a block scalar.
func (s scalar) value() string {
	if s.node.Tag == "!!null" {
		return ""
	}
	if s.isBlock() {
		return strings.TrimRight(s.node.Value, "\n")
	}
	return s.node.Value
}

func (s scalar) isBlock() bool {
	return s.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// position returns where the scalar's text starts in the file. If the byte
// offset is unknown, it returns the position reported by the parser.
func (s scalar) position(file string) edit.Position {
	at, err := s.stream.offset(s.node.Line, s.node.Column)
	if s.node.Kind == yaml.ScalarNode {
		if found, problem := s.stream.span(s.node); problem == nil {
			at = found.start
		}
	}
	if err == nil {
		at, err = s.stream.fileOffset(at)
	}
	if err != nil {
		return edit.Position{File: file, Line: s.node.Line, Column: s.node.Column}
	}
	return s.stream.file().text.position(file, at)
}
