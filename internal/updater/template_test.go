package updater_test

import (
	"strings"
	"testing"
	"text/template/parse"

	"promoter/internal/image"
	"promoter/internal/updater/shapes"
)

func TestTemplate_lines(t *testing.T) {
	t.Parallel()
	const head = "{{- if .Values.on }}\n"
	checkShapes(t, []shapeCase{
		{name: "whole reference", before: head + "image: " + webV1 + " # why\n{{- end }}\n", after: head + "image: " + webV2 + " # why\n{{- end }}\n", kinds: "template-line"},
		{name: "quoted, in a list, with CRLF", before: head + "  - \"" + webV1 + "\"\r\n{{ end }}\r\n", after: head + "  - \"" + webV2 + "\"\r\n{{ end }}\r\n"},
		{name: "by its extension", path: "_helpers.tpl", before: head + "- image: '" + webV1 + "'\n{{ end }}\n", after: head + "- image: '" + webV2 + "'\n{{ end }}\n"},
		{name: "variable tag", before: head + "image: \"quay.io/acme/web:{{ .Values.tag }}\"\n", refused: "file.yaml:2: a line of a template that mentions quay.io/acme/web"},
		{name: "without a version", before: head + "repository: quay.io/acme/web\n"},
		{name: "without a version, in a list", before: head + "spec:\n  tag: v1\n  containers:\n    - image: 'quay.io/acme/web' # ours\n      name: web\n    - image: b\n      tag: v1\n{{ end }}\n"},
		{name: "without a version, as an entry", before: head + "tag: v1\nnames:\n  - quay.io/acme/web\n"},
		{name: "without a version, beside the version of the API", before: head + "apiVersion: v1\nimage: quay.io/acme/web\n"},
		{name: "with a version after it", before: head + "image:\n  repository: quay.io/acme/web\n  {{- if .x }}\n  tag: v1\n  {{- end }}\n", refused: "file.yaml:3: a line of a template that mentions quay.io/acme/web"},
		{name: "with a version before it", before: head + "- imageTag: v1\n  image: quay.io/acme/web\n", refused: "file.yaml:3"},
		{name: "with a digest in a list", before: head + "- image: quay.io/acme/web\n  a:\n    b: c\n  digest: {{ .d }}\n", refused: "file.yaml:2"},
		{name: "in one line with its version", before: head + "image: {repository: quay.io/acme/web, tag: v1}\n", refused: "file.yaml:2"},
		{name: "a sentence", path: "notes.tpl", before: head + "Pull it with docker pull " + webV1 + " first.\n{{ end }}\n"},
		{name: "a command beside a reference", before: head + "x: |\n  crane export " + webV1 + " - | tar x\nimage: " + webV1 + "\n", after: head + "x: |\n  crane export " + webV1 + " - | tar x\nimage: " + webV2 + "\n"},
		{name: "a command after a key", before: head + "run: docker pull " + webV1 + " -q # it\n"},
		{name: "a name with a comment", before: head + "repository: quay.io/acme/web # ours\ntag: v1\n", refused: "file.yaml:2"},
		{name: "a name with an anchor", before: head + "image: &x " + webV1 + "\n", refused: "file.yaml:2"},
		{name: "a list of references", before: head + "args: [a, " + webV1 + "]\n", refused: "file.yaml:2"},
		{name: "a sentence with an action", before: head + "x: |\n  docker run quay.io/acme/web:{{ .tag }}\n", refused: "file.yaml:3"},
		{name: "a document", path: "README.md.gotmpl", before: "image: " + webV1 + "\n{{ template \"x\" . }}\n"},
		{name: "comment", before: head + "# image: " + webV1 + "\n{{/* " + webV1 + " */}}\n{{- /*\n" + webV1 + "\n*/ -}}\n"},
		{name: "ignored", before: head + "image: quay.io/acme/web:{{ .tag }} # promoter: ignore\n"},
		{name: "another name", before: head + "image: quay.io/acme/web-b:v1\nimage: x/quay.io/acme/web:v1\n"},
		{name: "registry and repository", before: head + "image:\n  registry: quay.io\n  repository: acme/web\n  tag: v1\n", refused: "file.yaml:4: a line of a template that mentions quay.io/acme/web"},
		{name: "repository and its registry", before: head + "image:\n  repository: \"acme/web\"\r\n  tag: v1\n  registry: quay.io # ours\n", refused: "file.yaml:3"},
		{name: "hub and image", before: head + "hub: quay.io/acme\ntag: v1\nproxy:\n  image: web\n", refused: "file.yaml:5"},
		{name: "hub and image without a version", before: head + "hub: quay.io/acme\nimage: web\n"},
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

// A line that only looks like part of a comment is inspected.
func TestTemplate_comments(t *testing.T) {
	t.Parallel()
	const head = "{{- if .Values.on }}\n"
	oneLine := func(text string) string { return head + text + "\nimage: " + webV1 + "\n" }
	changed := func(name, text string) shapeCase {
		return shapeCase{name: name, before: oneLine(text), after: head + text + "\nimage: " + webV2 + "\n"}
	}
	checkShapes(t, []shapeCase{
		changed("shell glob", `args: ["cp -R {{ $sourcePath }}/* /b"]`),
		changed("quoted", `args: {{ "{{/*" }}`),
		changed("raw text", "args: {{ `{{/*` }}"),
		changed("after two spaces", "{{-  /* x"),
		changed("that does not end", "{{/* x */ y }}"),
		changed("unclosed action", "a: {{ .x\nb: {{/* x"),
		changed("text in two lines", "a: {{ \"x\n\" }}{{/* x"),
		changed("comments in one line", "{{/* a */}} {{- /* b */ -}}"),
		changed("trimmed in the next line", "{{-\n/* "+webV1+"\n*/\n-}}"),
		{name: "the rest of a comment", before: head + "{{/* a */}}{{- /*\nimage: " + webV1 + "\n*/}}\n"},
		{name: "beside a comment", before: head + "{{/* a */}} image: " + webV1 + "\n", refused: "file.yaml:2: a line of a template that mentions"},
		{
			name: "the old version remains", before: oneLine("x: [" + webV1 + ", {{ .x }}]"),
			refused: "file.yaml:3: line 2 would still name " + webV1,
		},
		{
			name: "another version remains", before: oneLine("x: [quay.io/acme/web:v0, {{ .x }}]"),
			after: head + "x: [quay.io/acme/web:v0, {{ .x }}]\nimage: " + webV2 + "\n", refused: "file.yaml:2: a line of a template",
		},
	})
}

// FuzzTemplate checks with the parser of text/template that after an edit without a refusal
// no text outside of comments names the old version.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"{{- if .x }}\nimage: W\n{{/* W */}}\n# W\nargs: cp {{ .x }}/* /b\nimage: W\n{{ end }}\n",
		"{{- /*\nimage: W\n*/ -}}\nimage: W\n",
		"a: {{ \"{{/*\" }}\nimage: W\nb: {{ `*/}}` }}\n",
		"a: {{ '\\'' }} {{/* x */}}\nimage: 'W'\nx: [W, {{ .x }}]\n",
		"{{ .a }}/* {{ .b }}\n- W\n- \"W\" # promoter: ignore\n*/}}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data := []byte(strings.ReplaceAll(text, "W", webV1))
		if len(data) > 1<<14 || strings.Contains(text, webV1) {
			t.Skip()
		}
		follower := engineFollower()
		inventory := scanOne(t, follower, "templates/_f.tpl", data)
		wanted := func(string) (image.Version, bool) { return image.Version{Tag: "v2"}, true }
		result := inventory.Rewrite(t.Context(), oneFile("templates/_f.tpl", data).file("templates/_f.tpl"), wanted)
		if result.Content == nil || len(result.Refusals)+len(inventory.Refusals) > 0 {
			return
		}
		rendered, valid := templateText(string(result.Content))
		if !valid {
			t.Skip() // nothing is rendered from it
		}
		for line := range strings.Lines(rendered) {
			line = strings.TrimSpace(line)
			if (shapes.Line{Text: line}).IsText() {
				continue
			}
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"'[],=", r) }) {
				if word == webV1 && line[0] != '#' && !strings.Contains(line, "promoter: ignore") {
					t.Errorf("%q still names the old version:\n%s", line, result.Content)
				}
			}
		}
	})
}

// templateText returns a template without the comments that the parser of text/template
// finds; false if it does not accept the template.
func templateText(content string) (text string, valid bool) {
	tree := parse.New("f")
	tree.Mode = parse.ParseComments | parse.SkipFuncCheck
	if _, err := tree.Parse(content, "", "", map[string]*parse.Tree{}); err != nil {
		return "", false
	}
	removed := []byte(content)
	var walk func(node parse.Node)
	walkAll := func(list *parse.ListNode) {
		if list != nil {
			for _, node := range list.Nodes {
				walk(node)
			}
		}
	}
	branch := func(b *parse.BranchNode) { walkAll(b.List); walkAll(b.ElseList) }
	walk = func(node parse.Node) {
		switch n := node.(type) {
		case *parse.ListNode:
			walkAll(n)
		case *parse.IfNode:
			branch(&n.BranchNode)
		case *parse.RangeNode:
			branch(&n.BranchNode)
		case *parse.WithNode:
			branch(&n.BranchNode)
		case *parse.CommentNode:
			for i := range len(n.Text) {
				if at := int(n.Pos) + i; removed[at] != '\n' {
					removed[at] = ' '
				}
			}
		}
	}
	walkAll(tree.Root)
	return string(removed), true
}
