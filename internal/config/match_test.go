package config_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/config/field"
)

// mustLoad loads a config from its parts: environments as written in the file.
func mustLoad(t testing.TB, text string) *config.Config {
	t.Helper()
	c, problems := config.Load("test.yaml", []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

const head = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
`

func environment(t testing.TB, settings string) *config.Environment {
	t.Helper()
	return &mustLoad(t, head+"environments:\n  dev: "+settings+"\n").Environments[0]
}

func TestEnvironment_Match(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		settings, path string
		application    string // empty: no match
	}{
		{`{}`, "a.yaml", "default"},
		{`{}`, "deep/in/a.yaml", "default"},
		{`{}`, ".github/workflows/ci.yaml", ""},
		{`{}`, ".githubber/a.yaml", "default"},
		{`{}`, ".gitlab-ci.yml", ""},
		{`{}`, "node_modules/x/a.yaml", ""},
		{`{}`, "apps/vendor/a.yaml", "default"},
		{`{exclude: [apps]}`, "apps/a.yaml", ""},
		{`{exclude: [apps]}`, "appsx/a.yaml", "default"},
		{`{exclude: ["**/secret.yaml"]}`, "secret.yaml", ""},
		{`{exclude: ["**/secret.yaml"]}`, "a/b/secret.yaml", ""},
		{`{paths: [apps/dev]}`, "apps/dev/a.yaml", "default"},
		{`{paths: [apps/dev/]}`, "apps/dev/a.yaml", "default"},
		{`{paths: [apps/dev]}`, "apps/dev", "default"},
		{`{paths: [apps/dev]}`, "apps/dev2/a.yaml", ""},
		{`{paths: [apps/dev]}`, "x/apps/dev/a.yaml", ""},
		{`{paths: ["apps/*"]}`, "apps/web/deep/a.yaml", "default"},
		{`{paths: ["apps/*"]}`, "apps", ""},
		{`{paths: ["apps/*.yaml"]}`, "apps/a.yaml", "default"},
		{`{paths: ["apps/*.yaml"]}`, "apps/a.yml", ""},
		{`{paths: ["apps/a*b*c"]}`, "apps/aXbYc/f", "default"},
		{`{paths: ["apps/a*b*c"]}`, "apps/aXc/f", ""},
		{`{paths: ["apps/ab*ba"]}`, "apps/aba/f", ""},
		{`{paths: ["apps/**"]}`, "apps/a.yaml", "default"},
		{`{paths: ["apps/**"]}`, "apps", ""},
		{`{paths: ["**/dev"]}`, "dev/a.yaml", "default"},
		{`{paths: ["**/dev"]}`, "a/b/dev/c/a.yaml", "default"},
		{`{paths: ["**/dev"]}`, "a/b/devel/a.yaml", ""},
		{`{paths: ["a/**/b/**/c"]}`, "a/b/c", "default"},
		{`{paths: ["a/**/b/**/c"]}`, "a/x/b/x/b/y/c/z", "default"},
		{`{paths: ["a/**/b/**/c"]}`, "a/c/b", ""},
		{`{paths: ["a/**/**/b"]}`, "a/b", "default"},
		{`{paths: [b, a]}`, "a/x", "default"},
		{`{paths: [.gitlab/agents]}`, ".gitlab/agents/dev/config.yaml", "default"},
		{`{paths: [.gitlab/agents]}`, ".gitlab/ci/a.yaml", ""},
		{`{paths: ["**/agents"]}`, ".gitlab/agents/a.yaml", ""},
		{`{paths: ["apps/{application}"]}`, "apps/web/a.yaml", "web"},
		{`{paths: ["apps/{application}"]}`, "apps/web", "web"},
		{`{paths: ["apps/{application}"]}`, "apps", ""},
		{`{paths: ["apps/{application}.yaml"]}`, "apps/web.yaml", "web"},
		{`{paths: ["apps/{application}.yaml"]}`, "apps/.yaml", ""},
		{`{paths: ["apps/app-{application}-v1/dev"]}`, "apps/app-shop-v1/dev/x", "shop"},
		{`{paths: ["**/{application}/dev"]}`, "a/b/web/dev/x", "web"},
		{`{paths: ["**/{application}/**/dev"]}`, "a/b/c/dev/x", "a"},
		{`{paths: ["apps/{application}/dev", "legacy/{application}"]}`, "legacy/old/x", "old"},
		{`{paths: ["apps/{application}"]}`, "apps/Shop_API/x", "shop-api-040c1f"},
		{`{paths: ["apps/{application}"]}`, "apps/größe/x", "gr-e-d353a2"},
		{`{paths: ["apps/{application}"]}`, "apps/" + strings.Repeat("x", 50) + "/y", strings.Repeat("x", 33) + "-77cf12"},
		{`{paths: ["apps/{application}"]}`, "apps/日本/x", "cf2abf"},
	} {
		t.Run(test.settings+" "+test.path, func(t *testing.T) {
			t.Parallel()
			got, ok := environment(t, test.settings).Match(test.path)
			if got != test.application || ok != (test.application != "") {
				t.Errorf("Match = %q, %t; want %q", got, ok, test.application)
			}
			if ok && !field.ValidName(got) {
				t.Errorf("%q is no name", got)
			}
		})
	}
}

// TestEnvironment_Match_allocates keeps the hot path free of garbage.
//
//nolint:paralleltest // testing.AllocsPerRun refuses parallel tests
func TestEnvironment_Match_allocates(t *testing.T) {
	e := environment(t, `{paths: ["apps/{application}/overlays/dev", "**/shared/*/{application}"], exclude: ["**/test"]}`)
	if n := testing.AllocsPerRun(100, func() { e.Match("apps/web/overlays/dev/kustomization.yaml") }); n > 0 {
		t.Errorf("Match allocates %v times", n)
	}
}

// BenchmarkEnvironment_Match is one pass over a large repository: every file is
// asked of every environment.
func BenchmarkEnvironment_Match(b *testing.B) {
	const files = 20_000
	var text strings.Builder
	text.WriteString(head + "environments:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  env-%d: {paths: [\"apps/{application}/overlays/env-%d\", \"clusters/*/env-%d/{application}\"]}\n", i, i, i)
	}
	c := mustLoad(b, text.String())
	paths := make([]string, files)
	for i := range paths {
		paths[i] = fmt.Sprintf("apps/app-%d/overlays/env-%d/kustomization.yaml", i/10, i%10)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			for i := range c.Environments {
				c.Environments[i].Match(path)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files*len(c.Environments)), "ns/match")
}
