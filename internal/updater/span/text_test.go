package span

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// afterEquals reads what is after the equals sign of each line.
func afterEquals(s *Stream) []*yaml.Node {
	root := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, start := range s.Lines() {
		if at := bytes.IndexByte(s.Data[start:s.LineEnd(start)], '='); at >= 0 {
			root.Content = append(root.Content, s.TextNode(Span{start + at + 1, s.LineEnd(start)}))
		}
	}
	return []*yaml.Node{{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}}
}

func TestText_changesOnlyTheValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, value, after, problem string }{
		{name: "plain", before: "é=1\na=v1\n", value: "v2", after: "é=1\na=v2\n"},
		{name: "a number gets no quotes", before: "é=1\na=v1\n", value: "1.10", after: "é=1\na=1.10\n"},
		{name: "carriage returns", before: "é=1\r\na=v1\r\n", value: "v2", after: "é=1\r\na=v2\r\n"},
		{name: "byte order mark", before: "\ufeffa=1\nb=v1", value: "v2", after: "\ufeffa=1\nb=v2"},
		{name: "empty before", before: "a=1\nb=\n", value: "v2", after: "a=1\nb=v2\n"},
		{name: "empty after", before: "a=1\nb=v1\n", value: "", after: "a=1\nb=\n"},
		{name: "what surrounds it stays", before: "a=1\nb=x 'v1' # y\n", value: "x 'v2' # y", after: "a=1\nb=x 'v2' # y\n"},
		{name: "space", before: "a=1\nb=v1\n", value: "v 2", problem: "cannot be written"},
		{name: "line break", before: "a=1\nb=v1\n", value: "v2\nc=d", problem: "cannot be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stream := ParseText([]byte(c.before), afterEquals)
			values := stream.Documents[0].Content[0].Content
			change := Set(Scalar{stream, values[1]}, c.value)
			replaced, err := change.Replacement()
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("got %v, want %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			content, err := Splice(stream.Data, []Replacement{replaced})
			if err != nil || string(content) != c.after {
				t.Errorf("got %q, %v, want %q", content, err, c.after)
			}
			if err := Prove(stream, []Change{change}, content); err != nil {
				t.Error(err)
			}
			if err := Prove(stream, []Change{change}, append(content, "z=1"...)); err == nil {
				t.Error("another value is not noticed")
			}
		})
	}
}

func TestText_hasNoKeys(t *testing.T) {
	t.Parallel()
	stream := ParseText([]byte("a=1\n"), afterEquals)
	root := stream.Documents[0].Content[0]
	if _, err := AddKey(root, Scalar{stream, root.Content[0]}, "b", "c").Replacement(); err == nil {
		t.Error("a key was added")
	}
}

func TestMerge_ofDifferentParts(t *testing.T) {
	t.Parallel()
	stream, err := Parse([]byte("a: one two three\n"))
	if err != nil {
		t.Fatal(err)
	}
	scalar := Scalar{stream, stream.Documents[0].Content[0].Content[1]}
	first, last := SetPart(scalar, "", "1", " two three"), SetPart(scalar, "one two ", "3", "")
	for _, pair := range [][2]Change{{first, last}, {last, first}} {
		merged, ok := Merge(pair[0], pair[1])
		if !ok || merged.Value != "1 two 3" {
			t.Errorf("got %q, %v", merged.Value, ok)
		}
		again, ok := Merge(merged, SetPart(scalar, "one ", "2", " three"))
		if ok {
			t.Errorf("a change within merged ones: %q", again.Value)
		}
	}
	if _, ok := Merge(first, SetPart(scalar, "", "x", " three")); ok {
		t.Error("overlapping parts were merged")
	}
}
