package updater_test

import "testing"

func TestTemplate_lines(t *testing.T) {
	t.Parallel()
	const head = "{{- if .Values.on }}\n"
	checkShapes(t, []shapeCase{
		{name: "whole reference", before: head + "image: " + webV1 + " # why\n{{- end }}\n", after: head + "image: " + webV2 + " # why\n{{- end }}\n", kinds: "template-line"},
		{name: "quoted, in a list, with CRLF", before: head + "  - \"" + webV1 + "\"\r\n{{ end }}\r\n", after: head + "  - \"" + webV2 + "\"\r\n{{ end }}\r\n"},
		{name: "by its extension", path: "_helpers.tpl", before: head + "- image: '" + webV1 + "'\n{{ end }}\n", after: head + "- image: '" + webV2 + "'\n{{ end }}\n"},
		{name: "variable tag", before: head + "image: \"quay.io/acme/web:{{ .Values.tag }}\"\n", refused: "file.yaml:2: a line of a template that mentions quay.io/acme/web"},
		{name: "without a version", before: head + "repository: quay.io/acme/web\n", refused: "mentions quay.io/acme/web"},
		{name: "comment", before: head + "# image: " + webV1 + "\n{{/* " + webV1 + " */}}\n{{- /*\n" + webV1 + "\n*/ -}}\n"},
		{name: "ignored", before: head + "image: quay.io/acme/web:{{ .tag }} # promoter: ignore\n"},
		{name: "another name", before: head + "image: quay.io/acme/web-b:v1\nimage: x/quay.io/acme/web:v1\n"},
		{name: "registry and repository", before: head + "image:\n  registry: quay.io\n  repository: acme/web\n  tag: v1\n", refused: "file.yaml:4: a line of a template that mentions quay.io/acme/web"},
		{name: "repository and its registry", before: head + "image:\n  repository: \"acme/web\"\r\n  tag: v1\n  registry: quay.io # ours\n", refused: "file.yaml:3"},
		{name: "hub and image", before: head + "hub: quay.io/acme\nimage: web\n", refused: "file.yaml:3"},
		{name: "another registry", before: head + "registry: docker.io\nrepository: acme/web\n"},
		{name: "the name of an object", before: head + "registry: quay.io/acme\nname: web\n"},
		{name: "web address", before: head + "link: https://quay.io/acme/web\n"},
		swapped("a template that is YAML", "image: "+webV1+"\nother: '{{ .x }}'\n"),
	})
}

// TestTemplate_shortNames follows redis on Docker Hub, whose name is a key and
// a host in many charts.
func TestTemplate_shortNames(t *testing.T) {
	t.Parallel()
	const head = "{{- if .Values.on }}\n"
	for line, refused := range map[string]string{
		"redis:\n":                             "",
		"value: redis:{{ .Values.port }}\n":    "",
		"value: http://redis:{{ .port }}/x\n":  "",
		"image: redis:{{ .Values.tag }}\n":     "mentions redis",
		"image: \"redis:{{ .Values.tag }}\"\n": "mentions redis",
		"args: [\"redis:7.2\", {{ .x }}]\n":    "mentions redis",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			checkHub(t, head+line, head+line, refused)
		})
	}
}
