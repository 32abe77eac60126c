package updater_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"promoter/internal/image"
	"promoter/internal/updater"
	"promoter/internal/updater/shapes"
	"promoter/internal/updater/site"
)

// scanFile scans one file for web and returns the refusals and the references.
func scanFile(t *testing.T, file updater.File, options updater.Options) (refused string, references int) {
	t.Helper()
	follower := newFollowedComponents()
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	follower.add(site.Followed{Component: "web", Repository: repository})
	files := func(yield func(updater.File, error) bool) { yield(file, nil) }
	inventory, err := updater.New(follower, options).Scan(context.Background(), iter.Seq2[updater.File, error](files))
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 0, len(inventory.Refusals))
	for _, refusal := range inventory.Refusals {
		texts = append(texts, refusal.String())
	}
	return strings.Join(texts, "\n"), len(inventory.References)
}

func content(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

func wide(text string) string {
	data := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = append(data, byte(unit), byte(unit>>8))
	}
	return string(data)
}

func TestGuard_refusesUnsafeFiles(t *testing.T) {
	t.Parallel()
	const held, other = "image: " + webV1 + "\n", "image: quay.io/acme/other:v1\n"
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n"
	conflict := "a: b\n<<<<<<< ours\n" + held + "=======\nb: c\n>>>>>>> theirs\n"
	small := updater.Options{MaxFileSize: 64}
	long := strings.Repeat("# long\n", 20)
	cases := []struct {
		name, path, text string
		mode             updater.Mode
		options          updater.Options
		refused          string // empty if not refused
		found            int
	}{
		{name: "over the limit", text: held + long, options: small, refused: "over the limit of 64 bytes"},
		{name: "over the limit without a followed name", text: other + long, options: small},
		{name: "over the limit, the name in prose and in words", text: "webhook: {}\nnames: {singular: web}\n# see web\n" + long, options: small},
		{name: "over the limit, a reference in a list", text: "- " + webV1 + "\n" + long, options: small, refused: "over the limit"},
		{name: "over the limit, half a reference", text: "{\"registry\": \"quay.io\", \"repository\": \"acme/web\"}\n" + long, options: small, refused: "over the limit"},
		{name: "over the limit, a chart in a registry", text: "url: oci://quay.io/acme\nx: web\n" + long, options: small, refused: "over the limit"},
		{name: "over the limit, a mark", text: "a: v1 # promoter: web\n" + long, options: small, refused: "over the limit"},
		{name: "lock of a package manager", path: "package-lock.json", text: "{" + held},
		{name: "symbolic link", text: held, mode: updater.Symlink, refused: "a symbolic link"},
		{name: "symbolic link without a followed name", text: other, mode: updater.Symlink},
		{name: "symbolic link to a file with the word", text: "files:\n- content: wait for web\n", mode: updater.Symlink},
		{name: "symbolic link to a name without a version", text: "image: quay.io/acme/web\n", mode: updater.Symlink},
		{name: "symbolic link to a template with the word", path: "_web.tpl", text: "{{- define \"web\" }}x{{ end }}\n", mode: updater.Symlink},
		{name: "symbolic link to a value that is refused", text: "image: quay.io/acme/web:${TAG}\n", mode: updater.Symlink, refused: "a symbolic link"},
		{name: "symbolic link to invalid YAML", text: held + "b: {\n", mode: updater.Symlink, refused: "a symbolic link"},
		{name: "submodule", path: "vendor", mode: updater.Submodule, refused: "vendor:1: a submodule"},
		{name: "LFS pointer", text: pointer, refused: "a pointer of Git LFS"},
		{name: "LFS pointer of a picture", path: "a.png", text: pointer},
		{name: "conflict markers", text: conflict, refused: "f.yaml:2: conflict markers"},
		{name: "conflict markers without a followed name", text: strings.ReplaceAll(conflict, "acme/web", "acme/other")},
		{name: "invalid YAML", text: held + "b: {\n", refused: "not valid YAML"},
		{name: "invalid YAML without a followed name", text: other + "b: {\n"},
		{name: "UTF-16", text: wide(held), refused: "UTF-16"},
		{name: "UTF-16 without a followed name", text: wide(other)},
		{name: "zero bytes", text: held + "a: \x00\n", refused: "not UTF-8 text"},
		{name: "Latin 1", text: held + "a: \xe9\n", refused: "not UTF-8 text"},
		{name: "YAML without an extension", path: "pod", text: held, found: 1},
		{name: "YAML with an unknown extension", path: "pod.j2", text: held, found: 1},
		{name: "unknown extension, not YAML, with a reference", path: "a.x", text: held + "}\n", refused: "a.x:1: the file is not valid YAML"},
		{name: "unknown extension, not YAML, with prose", path: "a.x", text: "see " + webV1 + "\n}: {\n"},
		{name: "JSON with comments", path: "tsconfig.json", text: "{\n  // of web\n  \"lib\": [\"webworker\"]\n}\n"},
		{name: "JSON with comments and a reference", path: "a.json", text: "{\n  // of web\n  \"image\": \"" + webV1 + "\",\n}\n", refused: "a.json:2: not valid YAML"},
		{name: "broken JSON on one line", path: "a.json", text: "{\"a\": {\"image\": \"" + webV1 + "\"}", refused: "a.json:1: not valid YAML"},
		{name: "prose", path: "README.md", text: held},
		{name: "promoter's own file", path: ".promoter.yaml", text: held},
		{name: "Dockerfile", path: "Dockerfile.dev", text: held},
		{
			name: "configured place in a file that is no YAML", path: "a.tf", text: "a = {\n  b: }\n", refused: "write: the file is neither YAML nor JSON",
			options: updater.Options{Writes: func(string) []shapes.Write { return path("a") }},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.path == "" {
				c.path = "f.yaml"
			}
			file := updater.File{Path: c.path, Mode: c.mode, Size: int64(len(c.text)), Read: content(c.text)}
			refused, found := scanFile(t, file, c.options)
			if c.refused == "" && refused != "" || !strings.Contains(refused, c.refused) {
				t.Errorf("refused %q, want %q", refused, c.refused)
			}
			if found != c.found {
				t.Errorf("%d references, want %d", found, c.found)
			}
		})
	}
}

func TestGuard_unreadable(t *testing.T) {
	t.Parallel()
	broken := func() ([]byte, error) { return nil, errors.New("the disk is gone") }
	if refused, _ := scanFile(t, updater.File{Path: "f.yaml", Read: broken}, updater.Options{}); !strings.Contains(refused, "the disk is gone") {
		t.Errorf("refused %q", refused)
	}
	if refused, _ := scanFile(t, updater.File{Path: "f.yaml", Mode: updater.Symlink}, updater.Options{}); !strings.Contains(refused, "with an unreadable target") {
		t.Errorf("refused %q", refused)
	}
	if refused, _ := scanFile(t, updater.File{Path: "f.yaml", Size: 1 << 40, Read: broken}, updater.Options{}); !strings.Contains(refused, "over the limit") {
		t.Errorf("refused %q", refused)
	}
}

// TestGuard_hostile scans files that expand exponentially. None may contain a
// reference, and the test would not finish if the time for one grew faster than
// its size.
func TestGuard_hostile(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [" + webV1 + "]\n"
	for i := range 30 {
		now, before := string(rune('A'+i)), string(rune('A'+i-1))
		if i == 0 {
			before = "a0"
		}
		bomb += now + ": &" + now + " [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
	}
	merges := "m0: &m0 {repository: quay.io/acme/web}\n"
	for i := range 25 {
		now, before := string(rune('A'+i)), string(rune('A'+i-1))
		if i == 0 {
			before = "m0"
		}
		merges += now + ": &" + now + "\n  tag: v1\n  <<: [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
	}
	cases := map[string]string{
		"alias bomb":              bomb,
		"merge bomb":              merges,
		"100,000 deep flow list":  "a: " + webV1 + "\nb: " + strings.Repeat("[", 100_000) + "\n",
		"100,000 deep block list": strings.Repeat("- ", 100_000) + webV1 + "\n",
		"9,000 deep flow mapping": strings.Repeat("{image: ", 9_000) + webV1 + strings.Repeat("}", 9_000) + "\n",
		"a million nodes":         "a: " + webV1 + "\nb: [" + strings.Repeat("a,", 1<<19-100) + "a]\n",
		"references on one line":  "[" + strings.Repeat("é,"+webV1+",", 1<<13) + "a]\n",
		"groups on one line":      "[" + strings.Repeat("{repository: quay.io/acme/web, tag: v1, é: é},", 1<<12) + "a]\n",
		"hubs":                    "global: {hub: quay.io/acme, tag: v1}\n" + strings.Repeat("x: {image: web}\n", 1<<13),
		"variables":               "image: quay.io/acme/web:" + strings.Repeat("${", 1<<18) + "\n",
		"one long plain scalar":   "image: " + webV1 + strings.Repeat(" a", 1<<18) + "\n",
		"one long quoted scalar":  "image: \"" + webV1 + strings.Repeat("\\n", 1<<18) + "\"\n",
		"blocks in blocks":        "a: " + webV1 + "\n" + strings.Repeat("b: |\n  c: |\n    d: quay.io/acme/web\n", 1<<13),
		"marks":                   strings.Repeat("- v1 # promoter: web.tag\n", 1<<13),
		"comments":                "image: " + webV1 + "\n" + strings.Repeat("#\n", 1<<18),
		"words of a template":     "{{ x }}\n# quay.io/acme/web\n" + strings.Repeat("a:b,c:,", 1<<17) + "\n",
		"documents":               "image: " + webV1 + "\n" + strings.Repeat("---\n", 1<<15),
	}
	numbered := func(format string) string {
		var text strings.Builder
		for i := range 1 << 12 {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	maps.Copy(cases, map[string]string{
		"aliases of charts":        "repositories:\n" + numbered("- {name: r%d, url: quay.io/acme, oci: true}\n") + "releases:\n" + numbered("- {chart: x%d/web, version: 1.0.0}\n"),
		"releases in documents":    numbered("---\nreleases: [{chart: x%d/web, version: 1.0.0}]\n"),
		"registries":               numbered("a%dRegistry: quay.io\n") + numbered("g%d: {repository: acme/web, tag: v1}\n"),
		"digests beside":           "image: " + webV1 + "\n" + numbered("image%dDigest: \"sha256:"+strings.Repeat("a", 64)+"\"\n"),
		"prefixes":                 numbered("a%dRepository: quay.io/acme/web\n") + numbered("a%dTag: v1\n"),
		"marked references":        numbered("a%d: " + webV1 + " # promoter: web\n"),
		"comments for Renovate":    numbered("a%d: v1 # renovate: datasource=docker depName=quay.io/acme/web\n"),
		"marks without Renovate":   "a: v1 # promoter: web.tag\n" + numbered("a%d: v1\n"),
		"defaults in actions":      "a: \"" + strings.Repeat("{{ default '"+webV1+"' }}", 1<<12) + "\"\n",
		"words of a command":       "command: \"" + strings.Repeat(webV1+" ", 1<<12) + "\"\n",
		"names with other markers": numbered("a%d: {name: web, tag: v1} # {\"$imagepolicy\": \"web:name\"}\n"),
	})
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := updater.File{Path: "f.yaml", Size: int64(len(text)), Read: content(text)}
			refused, found := scanFile(t, file, updater.Options{})
			_, again := rewriteWeb(t, site.Followed{}, text, image.Version{Tag: "v2", Digest: digest2})
			if t.Logf("%d references", found); len(refused) > 512 || len(again) > 1024 {
				t.Errorf("refusals of %d and %d bytes", len(refused), len(again))
			}
		})
	}
}

// A file may have any number of names, beside any number of references, in one document.
func TestGuard_manyMentions(t *testing.T) {
	t.Parallel()
	const many = 1 << 13
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	follower := newFollowedComponents()
	follower.add(site.Followed{Component: "web", Repository: repository})
	everywhere := updater.Options{Mentions: func(string) bool { return true }}
	for name, test := range map[string]struct {
		document string
		want     int
	}{
		"deployed":              {"kind: Deployment\n", 100},
		"of another tool":       {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\n", 0},
		"of a tool in the next": {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\n---\nkind: Deployment\n", 100},
	} {
		text := test.document + "images:\n" + strings.Repeat("- image: "+webV1+"\n", many) + "scripts:\n" + strings.Repeat("- run quay.io/acme/web:v1 now\n", many)
		file := updater.File{Path: "f.yaml", Size: int64(len(text)), Read: content(text)}
		index, _, err := updater.New(follower, everywhere).NewIndex().Next(t.Context(), updater.Difference{Files: []updater.File{file}})
		if err != nil {
			t.Fatal(err)
		}
		found, more := 0, 0
		for _, m := range index.Inventory("f.yaml").Mentions {
			found, more = found+len(m.Listed), more+m.More
		}
		if found != test.want || test.want > 0 && found+more != many {
			t.Errorf("%s: %d mentions, and %d more", name, found, more)
		}
	}
}
