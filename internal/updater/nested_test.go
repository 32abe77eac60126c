package updater_test

import (
	"strings"
	"testing"
)

func TestNested_blockScalars(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{name: "reference", before: "a: |\n  image: quay.io/acme/web:v1\n", after: "a: |\n  image: quay.io/acme/web:v2\n"},
		{name: "group", before: "a: |-\n    image:\n      repository: quay.io/acme/web\n      tag: v1 # kept\nb: 1\n", after: "a: |-\n    image:\n      repository: quay.io/acme/web\n      tag: v2 # kept\nb: 1\n"},
		{name: "list", before: "a: |\n  - quay.io/acme/web:v1\n", after: "a: |\n  - quay.io/acme/web:v2\n"},
		{name: "blank lines and comments", before: "a: |\n\n  # first\n\n  image: quay.io/acme/web:v1\n\n\nb: 1\n", after: "a: |\n\n  # first\n\n  image: quay.io/acme/web:v2\n\n\nb: 1\n"},
		{name: "indicator", before: "a: |4\n      x: 1\n      image: quay.io/acme/web:v1\n", after: "a: |4\n      x: 1\n      image: quay.io/acme/web:v2\n"},
		{name: "indicator, then less", before: "a: |1\n   x:\n    - 1\n   image: quay.io/acme/web:v1\n", after: "a: |1\n   x:\n    - 1\n   image: quay.io/acme/web:v2\n"},
		{name: "in a list", before: "- |\n  image: quay.io/acme/web:v1\n- |\n  image: quay.io/acme/worker:v1\n", after: "- |\n  image: quay.io/acme/web:v2\n- |\n  image: quay.io/acme/worker:v2\n"},
		{name: "two documents", before: "a: |\n  image: quay.io/acme/web:v1\n  ---\n  image: quay.io/acme/web:v1\n", after: "a: |\n  image: quay.io/acme/web:v2\n  ---\n  image: quay.io/acme/web:v2\n"},
		{name: "marker inside", before: "a: |\n  x: v1 # promoter: web.tag\n", after: "a: |\n  x: v2 # promoter: web.tag\n"},
		{name: "quoted inside", before: "a: |\n  image: \"quay.io/acme/web:v1\"\n", after: "a: |\n  image: \"quay.io/acme/web:v2\"\n"},
		{name: "non-ASCII before it", before: "ä: |\n  ö: 🚀\n  image: quay.io/acme/web:v1\n", after: "ä: |\n  ö: 🚀\n  image: quay.io/acme/web:v2\n"},
		{name: "becomes a string", before: "a: |\n  repository: quay.io/acme/web\n  tag: 1.0\n", after: "a: |\n  repository: quay.io/acme/web\n  tag: v2\n"},
	})
}

func TestNested_textThatIsNoYAML(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{name: "prose", before: "a: |\n  We run quay.io/acme/web:v1 here.\n"},
		{name: "script", before: "a: |\n  #!/bin/sh\n  set -e\n  docker run quay.io/acme/web:v1 --flag\n"},
		{name: "comment inside", before: "a: |\n  # image: quay.io/acme/web:v1\n  b: 1\n"},
		{name: "ini", before: "a: |\n  [web]\n  image = quay.io/acme/web:v1\n"},
		{name: "folded", before: "a: >\n  image: quay.io/acme/web:v1\n"},
		{name: "tabs", before: "a: |\n  x:\n  \timage: quay.io/acme/web:v1\n"},
	})
}

// YAML in YAML in YAML is read up to a limited depth.
func TestNested_depthIsBounded(t *testing.T) {
	t.Parallel()
	nested := func(levels int, image string) string {
		text := "image: " + image + "\n"
		for range levels {
			text = "a: |\n  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
		}
		return text
	}
	checkShapes(t, []shapeCase{
		{name: "four levels", before: nested(4, "quay.io/acme/web:v1"), after: nested(4, "quay.io/acme/web:v2")},
		{name: "five levels", before: nested(5, "quay.io/acme/web:v1")},
		{name: "a hundred levels", before: nested(100, "quay.io/acme/web:v1")},
	})
}

func TestNested_textThatMustBeYAML(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{
			name:   "values with templates",
			before: "values: |\n  {{- if .x }}\n  image: quay.io/acme/web:v1\n  {{- end }}\n", refused: "file.yaml:1: the text under values mentions quay.io/acme/web and cannot be edited",
		},
		{name: "patch in quotes", before: `patch: '[{"op": "replace", "path": "/image", "value": "quay.io/acme/web:v1"}]'` + "\n", refused: "not a literal block"},
		{name: "folded values", before: "values: >\n  image: quay.io/acme/web:v1\n", refused: "not a literal block"},
		{name: "file of a ConfigMap", before: "data:\n  app.yaml: |\n    a: [\n    image: quay.io/acme/web:v1\n", refused: "the text under app.yaml"},
		{name: "ignored", before: "values: >  # promoter: ignore\n  image: quay.io/acme/web:v1\n"},
		{name: "comment in it", before: "values: |\n  {{- if .x }}\n  # image: quay.io/acme/web:v1\n"},
		{name: "another repository", before: "values: |\n  {{- if .x }}\n  image: quay.io/other/web:v1\n"},
		{name: "ignored block of one line", before: "image: |- # promoter: ignore\n  quay.io/acme/web:v1\n"},
		{name: "a whole reference", before: "values: quay.io/acme/web:v1\n", after: "values: quay.io/acme/web:v2\n"},
		{name: "a script", before: "run.sh: |\n  docker run \"quay.io/acme/web:v1\" {\n"},
	})
}
