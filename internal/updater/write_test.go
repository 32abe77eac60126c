package updater_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/shapes"
)

type writeCase struct {
	name, before, after string // after empty: the bytes stay
	writes              []shapes.Write
	refused             string
}

func (c writeCase) check(t *testing.T) {
	t.Helper()
	files := oneFile("f.yaml", []byte(c.before))
	options := updater.Options{Writes: func(string) []shapes.Write { return c.writes }}
	inventory, err := updater.New(engineFollower(), options).Scan(context.Background(), files.files())
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(string) (image.Version, bool) {
		return image.Version{Tag: "v2", Digest: digest2, Version: "2"}, true
	}
	result := inventory.Rewrite(context.Background(), files.file("f.yaml"), wanted)
	got := c.before
	if result.Content != nil {
		got = string(result.Content)
	}
	want := c.after
	if want == "" {
		want = c.before
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	var texts []string
	for _, refusal := range append(inventory.Refusals, result.Refusals...) {
		texts = append(texts, refusal.String())
	}
	expectPart(t, "refusals", strings.Join(texts, "\n"), c.refused)
}

func path(path string) []shapes.Write {
	return []shapes.Write{{Path: path, Component: "web", Value: "{tag}"}}
}

func TestWrite_paths(t *testing.T) {
	t.Parallel()
	for _, c := range []writeCase{
		{name: "keys", before: "a: {b: v1}\n", after: "a: {b: v2}\n", writes: path("a.b")},
		{name: "key with dots, quoted", before: "a:\n  b.c/d: v1 # e\n", after: "a:\n  b.c/d: v2 # e\n", writes: path(`a."b.c/d"`)},
		{name: "key with dots, in brackets", before: "a: {b.c: v1}\n", after: "a: {b.c: v2}\n", writes: path(`a['b.c']`)},
		{name: "list index", before: "a: [x, v1]\n", after: "a: [x, v2]\n", writes: path("a[1]")},
		{name: "list entry by name", before: "a:\n- name: x\n  v: v1\n- name: web\n  v: v1\n", after: "a:\n- name: x\n  v: v1\n- name: web\n  v: v2\n", writes: path("a[name=web].v")},
		{name: "second document", before: "b: c\n---\na: v1\n", after: "b: c\n---\na: v2\n", writes: path("a")},
		{name: "several documents", before: "a: v1\n---\na: v1\n", writes: path("a"), refused: "several documents of the file have a"},
		{name: "not a scalar", before: "a: [b]\n", writes: path("a"), refused: "is not a scalar"},
		{name: "bad path", before: "a: b\n", writes: path("a[x"), refused: "a bracket is not closed"},
		{name: "missing key", before: "a: {b: c}\n", writes: path("a.d"), refused: "there is nothing at a.d; set create: true"},
		{
			name: "missing key is made", before: "a:\n  b: \"c\" # d\ne: f\n", after: "a:\n  b: \"c\" # d\n  x: \"v2\"\ne: f\n",
			writes: []shapes.Write{{Path: "a.x", Component: "web", Value: "{tag}", Create: true}},
		},
		{
			name: "missing key is made in a flow mapping at the root", before: "{\"b\": \"c\"}\n", after: "{\"b\": \"c\", \"x\": \"v2\"}\n",
			writes: []shapes.Write{{Path: "x", Component: "web", Value: "{tag}", Create: true}},
		},
		{
			name: "no mapping for the key", before: "a: b\n",
			writes: []shapes.Write{{Path: "c.x", Component: "web", Value: "{tag}", Create: true}}, refused: "there is no mapping at c.x",
		},
		{name: "whole block", before: "a: |\n  v1\nb: c\n", after: "a: |\n  v2\nb: c\n", writes: path("a")},
		{name: "block of several lines", before: "a: |\n  v1\n  x\n", writes: path("a"), refused: "the value is spread over several lines"},
		{
			name: "template", before: "a: x\n", after: "a: web-2@" + digest2 + "\n",
			writes: []shapes.Write{{Path: "a", Component: "web", Value: "{component}-{version}@{digest}"}},
		},
		{
			name: "placeholder that is not known", before: "a: x\n",
			writes: []shapes.Write{{Path: "a", Component: "web", Value: "{revision}"}}, refused: "the value needs {revision}",
		},
		{
			name: "expression", before: "a: release-v1-x # release-v1\n", after: "a: release-v2-x # release-v1\n",
			writes: []shapes.Write{{Regex: `a: release-(v\d+)`, Component: "web", Value: "{tag}"}},
		},
		{
			name: "expression that matches a comment", before: "a: b # release-v1\n",
			writes: []shapes.Write{{Regex: `release-(v\d+)`, Component: "web", Value: "{tag}"}}, refused: "a match is not within one value",
		},
		{
			name: "expression without a match", before: "a: b\n",
			writes: []shapes.Write{{Regex: `release-(v\d+)`, Component: "web", Value: "{tag}"}}, refused: "nothing in the file matches",
		},
		{
			name: "unknown component", before: "a: b\n",
			writes: []shapes.Write{{Path: "a", Component: "other", Value: "{tag}"}}, refused: "the component other is not followed here",
		},
		{
			name: "one of tag and digest", before: "repository: quay.io/acme/web\ntag: v1\ndigest: " + digest1 + "\n",
			writes: path("tag"), refused: "it must name both", after: "repository: quay.io/acme/web\ntag: v2\ndigest: " + digest1 + "\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}
