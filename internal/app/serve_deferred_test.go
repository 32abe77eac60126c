package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/view"
)

// automatic is a config in which nothing waits for a user.
const automatic = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  prod: {paths: ["prod/{application}.yaml"], after: [dev], land: automerge}
`

// Gitea answers "try again later" while it looks for conflicts, which is the normal case for the second of two merges into
// one branch. No event follows, and the next poll is an hour away: the merge is tried again within seconds.
func TestServe_deferredMergeIsTriedAgain_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, automatic)
	secrets := environ("TOKEN", s.forge.Token("promoter-bot", giteatest.Scopes()...), "HOOK", serveSecret, "API", serveToken)
	file := s.serverFile("served.yaml", fmt.Sprintf(`forge: {kind: gitea, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()), fmt.Sprintf(`data: %q
poll: 1h
api: {token: "env:API"}
repositories: [{forge: forge, name: acme/gitops}]
receivers: {images: {kind: generic, secret: "env:HOOK", header: X-Signature}}
`, filepath.Join(s.dir, "data")))
	w := s.launch(openService(t, file, secrets, s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()
	s.repo.LookLate(3)
	w.publish("web", "1.1.0")
	if pull := s.repo.Pulls.Get(1); pull.Merged {
		t.Fatal("it was merged at once")
	}
	if reason := w.reason("prod"); !strings.Contains(reason, "the forge does not merge it yet: ") {
		t.Errorf("the status of prod says %q", reason)
	}
	for wait := 2 * time.Second; !s.repo.Pulls.Get(1).Merged && wait < time.Minute; wait *= 2 {
		w.wait(wait)
		w.reconciles()
	}
	s.says("prod", "web:1.1.0")
	if reason := w.reason("prod"); strings.Contains(reason, "does not merge") {
		t.Errorf("the status of prod still says %q", reason)
	}
	w.stop()
}

// reason returns what the status of the only application in an environment has as its reason.
func (w *served) reason(environment string) string {
	w.t.Helper()
	list, err := w.client(serveToken).Applications(w.t.Context(), view.ApplicationsQuery{Environment: environment, Limit: 2})
	if err != nil || len(list.Applications) != 1 || list.Applications[0].Targets[0].Reason == nil {
		w.t.Fatalf("%+v, %v", list, err)
	}
	return list.Applications[0].Targets[0].Reason.Message
}

// A run waits for a merge that Gitea defers, up to 30 seconds in all: the next run may be hours later. One that is deferred for
// longer is left to it.
func TestRun_waitsForADeferredMerge_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	for _, test := range []struct {
		late   int
		waits  string
		merged bool
	}{
		{0, "[]", true}, {3, "[2s 4s 8s]", true}, {9, "[2s 4s 8s 16s]", false},
	} {
		t.Run(fmt.Sprint(test.late), func(t *testing.T) {
			t.Parallel()
			s := newGiteaStory(t, automatic)
			s.repo.LookLate(test.late)
			s.release("web", "1.1.0")
			waits := []time.Duration{}
			results, err := app.Run(t.Context(), s.server, app.RunOptions{CacheDir: s.cache, Defer: func(_ context.Context, wait time.Duration) error {
				waits = append(waits, wait)
				return nil
			}})
			if err != nil || len(results) != 1 || results[0].Failed() {
				t.Fatalf("%+v, %v", results, err)
			}
			if pull := s.repo.Pulls.Get(1); pull.Merged != test.merged || fmt.Sprint(waits) != test.waits {
				t.Errorf("waited %v; %+v", waits, pull)
			}
		})
	}
}
