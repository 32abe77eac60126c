package checkout_test

import (
	"strings"
	"testing"
)

// What only shows what was made of a version is read back as that version, and a second run writes nothing.
func TestApply_writtenPlacesAreReadBack(t *testing.T) {
	t.Parallel()
	const file = "apps/shop/dev/a.yaml"
	for _, test := range []struct {
		name          string
		selects       string // of web; empty: semver
		write         string // what dev and staging write at path v; empty: nothing
		before, after string // the file of dev
		refused       string // in the reason of dev
	}{
		{name: "marker of a version", before: "v: 1.4.0 # promoter: web.version\n", after: "v: 1.5.0 # promoter: web.version\n"},
		{name: "marker of a tag", before: "v: 1.4.0 # promoter: web.tag\n", after: "v: 1.5.0 # promoter: web.tag\n"},
		{name: "Flux marker of a tag", before: "v: 1.4.0 # {\"$imagepolicy\": \"x:web:tag\"}\n", after: "v: 1.5.0 # {\"$imagepolicy\": \"x:web:tag\"}\n"},
		{name: "marker of a digest", before: "v: DIGEST4 # promoter: web.digest\n", after: "v: DIGEST5 # promoter: web.digest\n"},
		{
			name: "version without the rest of the tag", selects: `semver: ">=1", filter: "^(?P<version>[0-9.]+)$"`,
			before: "v: 1.4.0 # promoter: web.version\n", after: "v: 1.5.0 # promoter: web.version\n",
		},
		{
			name: "version with text around it", write: "web {version}.",
			before: "v: web 1.4.0.\n", after: "v: web 1.5.0.\n",
		},
		{name: "another text before", write: "web {version}.", before: "v: \"none\"\n", after: "v: \"web 1.5.0.\"\n"},
		{
			name: "beside a reference", write: "{version}",
			before: "v: 1.3.0\nimage: $R/acme/web:1.4.0\n", after: "v: 1.5.0\nimage: $R/acme/web:1.5.0\n",
		},
		{
			name: "only the version of one of several tags", selects: `semver: ">=1", filter: "^v?(?P<version>[0-9.]+)$"`,
			write: "{version}", before: "v: 1.4.0\n", refused: "only {version} is made of the version of web",
		},
		{name: "only the revision", write: "{revision}", before: "v: none\n", refused: "write {tag} or {digest} too"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{})
			digests := strings.NewReplacer("DIGEST4", w.push("acme/web:1.4.0", "old"), "DIGEST5", w.push("acme/web:1.5.0", "new"))
			selects, write := test.selects, ""
			if selects == "" {
				selects = `semver: ">=1"`
			}
			if test.write != "" {
				write = `, write: [{file: "apps/{application}/{environment}/a.yaml", path: v, component: web, value: "` + test.write + `"}]`
			}
			w.write(".promoter.yaml", `version: 1
components: {web: {image: $R/acme/web, select: {`+strings.ReplaceAll(selects, `\`, `\\`)+`}}}
environments:
  dev: {paths: ["apps/{application}/dev"]`+write+`}
  staging: {paths: ["apps/{application}/staging"], after: [dev]`+write+`}
`)
			for _, environment := range []string{"dev", "staging"} {
				w.write("apps/shop/"+environment+"/a.yaml", digests.Replace(test.before))
			}
			if test.refused != "" {
				_, preview := w.plan(w.options())
				if reason := preview.Targets[0].Reason.String(); !strings.Contains(reason, test.refused) || preview.Changed() {
					t.Fatalf("reason %q", reason)
				}
				return
			}
			w.apply(w.options())
			if got, want := w.read(file), w.expand(digests.Replace(test.after)); got != want {
				t.Errorf("dev has\n%s\nwant\n%s", got, want)
			}
			w.apply(w.options()) // the child follows
			if got, want := w.read("apps/shop/staging/a.yaml"), w.expand(digests.Replace(test.after)); got != want {
				t.Errorf("staging has\n%s\nwant\n%s", got, want)
			}
			w.expect(w.options(), "dev/shop same: already up to date", "staging/shop same: already up to date")
		})
	}
}

// The same image by its tag and by its digest is one version, also under two tags.
func TestPlan_versionsAreEqualByDigest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, dev, want string }{
		{"tag and digest", "a: {image: $R/acme/web:1.5.0}\nb: {image: $R/acme/web@DIGEST5}\n", "staging/shop proposed: dev has: web 1.4.0 -> 1.5.0"},
		{"two tags", "a: {image: $R/acme/web:1.5.0}\nb: {image: $R/acme/web:v1.5.0}\n", "staging/shop proposed: dev has: web 1.4.0 -> 1.5.0"},
		{
			"two images", "a: {image: $R/acme/web:1.5.0}\nb: {image: $R/acme/web@DIGEST4}\n",
			`staging/shop waiting: dev has several versions of web: ["1.5.0" "sha256:`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{
				".promoter.yaml":           webConfig,
				"apps/shop/staging/a.yaml": "image: $R/acme/web:1.4.0\n",
			})
			digests := strings.NewReplacer("DIGEST4", w.push("acme/web:1.4.0", "old"), "DIGEST5", w.push("acme/web:1.5.0", "new"))
			w.push("acme/web:v1.5.0", "new")
			w.write("apps/shop/dev/a.yaml", digests.Replace(test.dev))
			options := w.options()
			options.Environments = []string{"staging"}
			_, preview := w.plan(options)
			target := preview.Targets[len(preview.Targets)-1]
			got := target.Environment + "/" + target.Application + " " + string(target.State) + ": " + target.Reason.String()
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
