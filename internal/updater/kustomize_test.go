package updater_test

import (
	"testing"

	"promoter/internal/image"
)

func entryOf(lines string) string {
	return "images:\n  - name: web\n    newName: quay.io/acme/web\n" + lines
}

// TestKustomize_pin covers the table in docs/writing.md.
func TestKustomize_pin(t *testing.T) {
	t.Parallel()
	tag, digest := "    newTag: v1\n", "    digest: "+digest1+"\n"
	newTag, newDigest := "    newTag: v2\n", "    digest: "+digest2+"\n"
	checkShapes(t, []shapeCase{
		{name: "keep tag", before: entryOf(tag), after: entryOf(newTag), pin: image.PinKeep},
		{name: "keep digest", before: entryOf(digest), after: entryOf(newDigest), pin: image.PinKeep},
		{name: "keep both", before: entryOf(tag + digest), after: entryOf(newTag + newDigest), pin: image.PinKeep},
		{name: "tag from digest", before: entryOf(digest), after: entryOf(newTag), pin: image.PinTag},
		{name: "tag from both", before: entryOf(tag + digest), after: entryOf(newTag), pin: image.PinTag},
		{name: "tag from both, digest first", before: entryOf(digest + tag), after: entryOf(newTag), pin: image.PinTag},
		{name: "digest from tag", before: entryOf(tag), after: entryOf(newDigest), pin: image.PinDigest},
		{name: "digest from both", before: entryOf(tag + digest), after: entryOf(newDigest), pin: image.PinDigest},
		{name: "both from tag", before: entryOf(tag), after: entryOf(newTag + newDigest), pin: image.PinTagDigest},
		{name: "both from digest", before: entryOf(digest), after: entryOf(newDigest + newTag), pin: image.PinTagDigest},
		{name: "both from both", before: entryOf(digest + tag), after: entryOf(newDigest + newTag), pin: image.PinTagDigest},
	})
}

func TestKustomize_layouts(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{
			name:   "comments, order and indentation",
			before: "images:\n# b\n- newTag: v1 # one\n  # two\n  name: quay.io/acme/worker\n- name: a\n  newTag: v0\n# c\n",
			after:  "images:\n# b\n- newTag: v2 # one\n  # two\n  name: quay.io/acme/worker\n- name: a\n  newTag: v0\n# c\n",
		},
		{
			name: "digest is added before a foot comment", pin: image.PinTagDigest,
			before: "images:\n- name: quay.io/acme/web\n  newTag: v1 # one\n\n# two\nresources: []\n",
			after:  "images:\n- name: quay.io/acme/web\n  newTag: v2 # one\n  digest: " + digest2 + "\n\n# two\nresources: []\n",
		},
		{
			name: "digest is added with CRLF and without a final newline", pin: image.PinTagDigest,
			before: "images:\r\n- name: quay.io/acme/web\r\n  newTag: \"v1\"",
			after:  "images:\r\n- name: quay.io/acme/web\r\n  newTag: \"v2\"\r\n  digest: \"" + digest2 + "\"",
		},
		{
			name: "a flow entry", pin: image.PinTagDigest,
			before: "images: [{name: quay.io/acme/web,  newTag: v1}]\n",
			after:  "images: [{name: quay.io/acme/web,  newTag: v2,  digest: " + digest2 + "}]\n",
		},
		{
			name: "JSON, pretty", pin: image.PinTagDigest,
			before: "{\"images\": [{\n  \"name\": \"quay.io/acme/web\",\n  \"newTag\": \"v1\"\n}]}\n",
			after:  "{\"images\": [{\n  \"name\": \"quay.io/acme/web\",\n  \"newTag\": \"v2\",\n  \"digest\": \"" + digest2 + "\"\n}]}\n",
		},
		{
			name: "digest leaves a flow entry", pin: image.PinTag,
			before: "images: [{name: quay.io/acme/web, digest: " + digest1 + ", newTag: v1}]\n",
			after:  "images: [{name: quay.io/acme/web, newTag: v2}]\n",
		},
		{
			name: "a comment on the digest that has to go", pin: image.PinTag,
			before: entryOf("    newTag: v1\n    digest: " + digest1 + " # why\n"), refused: "the key to remove has a comment",
		},
		{
			name: "a digest that stands first", pin: image.PinTag,
			before: "images:\n- digest: " + digest1 + "\n  newTag: v1\n  name: quay.io/acme/web\n", refused: "the key is the first of its list entry",
		},
		{
			name:   "tag and digest in one scalar",
			before: entryOf("    newTag: v1@" + digest1 + "\n"), after: entryOf("    newTag: v2@" + digest2 + "\n"),
		},
		{name: "the tag stands twice", before: entryOf("    newTag: v0\n    newTag: v1\n"), refused: "the key newTag occurs twice"},
		{name: "variable", before: entryOf("    newTag: ${TAG}\n"), refused: "the version is a variable (${TAG})"},
		{name: "a number stays a string", before: entryOf("    newTag: 1.10\n"), after: entryOf("    newTag: v2\n")},
		{name: "another name", before: "images:\n- name: quay.io/acme/web\n  newName: quay.io/acme/other\n  newTag: v1\n"},
		{name: "no version", before: entryOf("")},
	})
}

// The name of an entry is a selector. If it changed, the entry would select
// nothing.
func TestKustomize_namesSelect(t *testing.T) {
	t.Parallel()
	checkShapes(t, []shapeCase{
		{
			name:   "name with a version",
			before: "images:\n- name: quay.io/acme/web:v1\n  newTag: v1\n", refused: "file.yaml:2: the name quay.io/acme/web:v1 has a version of its own",
		},
		{
			name:   "new name with a version",
			before: "images:\n- name: web\n  newName: quay.io/acme/web:v0\n  newTag: v1\n", refused: "file.yaml:3: the name quay.io/acme/web:v0",
		},
		{name: "name with a version and a new name", before: "images:\n- name: quay.io/acme/web:v1\n  newName: quay.io/other/web\n"},
		{
			name:   "list of other things",
			before: "images:\n- name: quay.io/acme/web:v1\n", after: "images:\n- name: quay.io/acme/web:v2\n",
		},
	})
}
