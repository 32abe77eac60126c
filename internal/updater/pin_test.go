package updater_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/site"
)

// TestPin_moving checks that a moving tag always has a digest next to it.
func TestPin_moving(t *testing.T) {
	t.Parallel()
	version := image.Version{Tag: "released", Digest: digest2}
	for _, c := range []struct {
		name, before, after, refused string
		pin                          image.Pin
		version                      image.Version
	}{
		{name: "whole reference", before: "image: quay.io/acme/web:released\n", after: "image: quay.io/acme/web:released@" + digest2 + "\n", version: version},
		{name: "kustomize", before: "images:\n- name: quay.io/acme/web\n  newTag: released\n", after: "images:\n- name: quay.io/acme/web\n  newTag: released\n  digest: " + digest2 + "\n", version: version},
		{name: "values with a tag alone", before: "repository: quay.io/acme/web\ntag: released\n", refused: "set pin: tag+digest to write tag@digest", version: version},
		{name: "values with a tag alone, tag+digest", before: "repository: quay.io/acme/web\ntag: released\n", after: "repository: quay.io/acme/web\ntag: released@" + digest2 + "\n", pin: image.PinTagDigest, version: version},
		{name: "values with the form already", before: "repository: quay.io/acme/web\ntag: released@" + digest1 + "\n", after: "repository: quay.io/acme/web\ntag: released@" + digest2 + "\n", version: version},
		{name: "values with an empty digest", before: "repository: quay.io/acme/web\ntag: released\ndigest: ''\n", after: "repository: quay.io/acme/web\ntag: released\ndigest: '" + digest2 + "'\n", version: version},
		{name: "no digest known", before: "image: quay.io/acme/web:released\n", refused: "give quay.io/acme/web:TAG@sha256:", version: image.Version{Tag: "released"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			content, refused := rewriteWeb(t, site.Followed{Pin: c.pin, Moving: true}, c.before, c.version)
			if c.after == "" {
				c.after = c.before
			}
			if content != c.after {
				t.Errorf("got %q, want %q", content, c.after)
			}
			expectPart(t, "refusals", refused, c.refused)
		})
	}
}

// TestPin_halfVersions checks that missing parts of a version are never
// guessed.
func TestPin_halfVersions(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"image: quay.io/acme/web:v1@" + digest1 + "\n":                                  "the file has a digest, or must have one",
		"image: quay.io/acme/web@" + digest1 + "\n":                                     "the file has a digest, or must have one",
		"repository: quay.io/acme/web\ntag: v1\ndigest: " + digest1 + "\n":              "the file has a digest, or must have one",
		"images: [{name: quay.io/acme/web, digest: \"" + digest1 + "\"}]\n":             "the file has a digest, or must have one",
		"images: [{name: quay.io/acme/web, newTag: v1, digest: \"" + digest1 + "\"}]\n": "the file has a digest, or must have one",
	} {
		if content, refused := rewriteWeb(t, site.Followed{}, before, image.Version{Tag: "v2"}); content != before || !strings.Contains(refused, want) {
			t.Errorf("%q became %q, refused %q", before, content, refused)
		}
	}
	hex := "repository: quay.io/acme/web\ntag: v1\nsha: \"" + digest1[len("sha256:"):] + "\"\n"
	sha512 := image.Version{Tag: "v2", Digest: "sha512:" + strings.Repeat("1", 128)}
	if content, refused := rewriteWeb(t, site.Followed{}, hex, sha512); content != hex || !strings.Contains(refused, "the wanted one is sha512") {
		t.Errorf("became %q, refused %q", content, refused)
	}
	const tagOnly = "image: quay.io/acme/web:v1\n"
	if content, refused := rewriteWeb(t, site.Followed{}, tagOnly, image.Version{Digest: digest2}); content != tagOnly || !strings.Contains(refused, "the file has a tag") {
		t.Errorf("became %q, refused %q", content, refused)
	}
}

// TestPin_form checks which references have another form than the pin requires, and that a
// rewrite gives them that form.
func TestPin_form(t *testing.T) {
	t.Parallel()
	both, tagOnly, digestOnly := edit.Form{Tag: true, Digest: true}, edit.Form{Tag: true}, edit.Form{Digest: true}
	const kustomize, values = "images:\n- name: quay.io/acme/web\n", "repository: quay.io/acme/web\n"
	signed := "sops: {mac: x}\n"
	for _, c := range []struct {
		name, content string
		pin           image.Pin
		form          edit.Form
		fixed         bool
	}{
		{"keep", "image: quay.io/acme/web:v1\n", image.PinKeep, edit.Form{}, false},
		{"right", "image: quay.io/acme/web:v1\n", image.PinTag, edit.Form{}, false},
		{"add the digest", "image: quay.io/acme/web:v1\n", image.PinTagDigest, both, false},
		{"digest instead of the tag", "image: quay.io/acme/web:v1\n", image.PinDigest, digestOnly, false},
		{"remove the digest", "image: quay.io/acme/web:v1@" + digest1 + "\n", image.PinTag, tagOnly, false},
		{"kustomize", kustomize + "  newTag: v1\n", image.PinTagDigest, both, false},
		{"kustomize, a comment would be lost", kustomize + "  newTag: v1 # by hand\n  digest: " + digest1 + "\n", image.PinDigest, edit.Form{}, true},
		{"values", values + "tag: v1\n", image.PinTagDigest, both, false},
		{"values, no place for a digest", values + "tag: v1\n", image.PinDigest, edit.Form{}, true},
		{"signed", signed + "image: quay.io/acme/web:v1\n", image.PinTagDigest, edit.Form{}, true},
		{"signed and right", signed + "image: quay.io/acme/web:v1\n", image.PinTag, edit.Form{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inventory := scanWeb(t, site.Followed{Pin: c.pin}, c.content)
			if len(inventory.References) != 1 {
				t.Fatalf("references: %+v, %v", inventory.References, inventory.Refusals)
			}
			if r := inventory.References[0]; r.Form != c.form || r.Fixed != c.fixed {
				t.Fatalf("form %+v, fixed %v", r.Form, r.Fixed)
			}
			if (c.form == edit.Form{}) {
				return
			}
			content, _ := rewriteWeb(t, site.Followed{Pin: c.pin}, c.content, image.Version{Tag: "v1", Digest: digest1})
			if r := scanWeb(t, site.Followed{Pin: c.pin}, content).References[0]; r.Form != (edit.Form{}) || (edit.Form{Tag: r.Tag != "", Digest: r.Digest != ""}) != c.form {
				t.Errorf("rewritten to %q", content)
			}
		})
	}
}

// scanWeb scans a file that follows web.
func scanWeb(t *testing.T, followed site.Followed, content string) *updater.Inventory {
	t.Helper()
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	followed.Component, followed.Repository = "web", repository
	follower := newFollowedComponents()
	follower.add(followed)
	return scanOne(t, follower, "f.yaml", []byte(content))
}

// rewriteWeb updates a file to a version of web.
func rewriteWeb(t *testing.T, followed site.Followed, before string, version image.Version) (content, refused string) {
	t.Helper()
	inventory := scanWeb(t, followed, before)
	wanted := func(string) (image.Version, bool) { return version, true }
	result := inventory.Rewrite(context.Background(), oneFile("f.yaml", []byte(before)).file("f.yaml"), wanted)
	content = before
	if result.Content != nil {
		content = string(result.Content)
	}
	texts := make([]string, 0, 1)
	for _, refusal := range append(inventory.Refusals, result.Refusals...) {
		texts = append(texts, refusal.String())
	}
	return content, strings.Join(texts, "\n")
}
