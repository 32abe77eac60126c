package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/onboarding"
	"promoter/internal/parallel"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/serverfile"
	"promoter/internal/workspace"
)

// A panic in one repository is the failure of that repository, also in work that is done
// in parallel. The others are reconciled.
func TestRun_panicAffectsOneRepository(t *testing.T) {
	t.Parallel()
	for name, defect := range map[string]func(){
		"in the reconciliation": func() { panic("a defect") },
		"in parallel work": func() {
			if err := parallel.ForEach(2, []int{1, 2}, func(int) error { panic("a defect") }); err != nil {
				panic(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := forAll(t.Context(), connectTwo(t), RunOptions{}, nil, func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
				if result.Repository == "acme/one" {
					defect()
				}
				result.Report, err = w.Reconciler.Reconcile(ctx)
				return err
			})
			if err != nil || len(results) != 2 {
				t.Fatalf("%d results, %v", len(results), err)
			}
			for _, result := range results {
				switch broken := result.Repository == "acme/one"; {
				case broken != result.Failed():
					t.Errorf("%s: %v", result.Repository, result.Err)
				case broken && (fault.KindOf(result.Err) != fault.Internal || !strings.Contains(result.Err.Error(), "a defect of promoter, please report it: panic: a defect, in app.TestRun_panicAffectsOneRepository")):
					t.Errorf("%v", result.Err)
				}
			}
		})
	}
}

// connectTwo connects to a forge with the repositories acme/one and acme/two, which
// follow an image without tags.
func connectTwo(t *testing.T) *connect.Connections {
	t.Helper()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			_, _ = fmt.Fprint(w, `{"name": "acme/web", "tags": []}`)
		}
	}))
	t.Cleanup(registry.Close)
	host := strings.TrimPrefix(registry.URL, "http://")
	github := githubtest.New(t, githubtest.Options{Now: time.Now})
	for _, name := range []string{"acme/one", "acme/two"} {
		github.NewRepository(name, map[string]string{
			".promoter.yaml": "version: 1\ncomponents: {web: {image: " + host + "/acme/web, select: {semver: '>=1'}}}\nenvironments: {dev: {paths: [dev], land: push}}\n",
			"dev/app.yaml":   "image: " + host + "/acme/web:1.0.0\n",
		}).Settings.Permit(githubtest.Self, "write")
	}
	token := github.Token(githubtest.Self, "repo", "read:org")
	file := filepath.Join(t.TempDir(), "server.yaml")
	text := fmt.Sprintf(`version: 1
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/one}
  - {forge: forge, name: acme/two}
registries: [{host: "%s", insecure: true}]
networks: [127.0.0.0/8]
`, github.URL(), host)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return token, name == "TOKEN" }
	connections, err := connect.Connect(serverfile.Options{WritePace: -1, Config: file, Env: env, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return connections
}
