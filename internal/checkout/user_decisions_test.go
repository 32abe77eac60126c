package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
)

const closedConfig = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["envs/dev"], land: pr}
  prod: {paths: ["envs/prod"], after: [dev]}
`

// A user closed the pull request of a version and then wrote it by hand: a plan goes on from there, as a
// reconciliation does. What was rejected explicitly, or what the clone cannot prove, stays rejected.
func TestPlan_versionsWrittenAfterAClose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		number int
		head   func(clone *gogit.Repository) string
		want   bool // prod may get the version
	}{
		"a close":                    {7, headOf, true},
		"an explicit rejection":      {0, headOf, false},
		"a head that is not here":    {7, func(*gogit.Repository) string { return strings.Repeat("58", 20) }, false},
		"by a release without heads": {7, func(*gogit.Repository) string { return "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]string{".promoter.yaml": closedConfig})
			old, digest := w.push("acme/web:1.0.0", "old"), w.push("acme/web:1.1.0", "new")
			image := func(tag, digest string) string { return fmt.Sprintf("image: $R/acme/web:%s@%s\n", tag, digest) }
			w.write("envs/dev/a.yaml", image("1.0.0", old))
			w.write("envs/prod/a.yaml", image("1.0.0", old))
			clone := w.repository("main")
			heads := ""
			if head := test.head(clone); head != "" {
				heads = `, "heads": ["` + head + `"]`
			}
			w.write("dev/default.json", fmt.Sprintf(`{"schema": 1, "rejections": [{"by": {"host": "h", "login": "ada"}, "at": "2026-11-18T11:00:00Z",
				"images": {"web": "$R/acme/web:1.1.0@%s"}, "number": %d%s}]}`, digest, test.number, heads))
			w.commit(clone, "promoter/_state")
			if err := os.RemoveAll(filepath.Join(w.dir, "dev")); err != nil {
				t.Fatal(err)
			}
			w.write("envs/dev/a.yaml", image("1.1.0", digest))
			_, preview := w.plan(w.options())
			for _, target := range preview.Targets {
				if target.Environment == "prod" && (len(target.Changes) > 0 && target.State == "proposed") != test.want {
					t.Errorf("prod is %s: %s", target.State, target.Reason)
				}
			}
		})
	}
}

// headOf returns the commit that is checked out.
func headOf(clone *gogit.Repository) string {
	head, err := clone.Head()
	if err != nil {
		return ""
	}
	return head.Hash().String()
}
