package app_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/gitea/giteatest"
)

// Gitea answers "try again later" while it looks for conflicts, which is the normal case for the second of two merges into
// one branch. No event follows, and the next poll is an hour away: the merge is tried again within seconds.
func TestServe_deferredMergeIsTriedAgain_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  prod: {paths: ["prod/{application}.yaml"], after: [dev], land: automerge}
`)
	secrets := environ("TOKEN", s.forge.Token("promoter-bot", giteatest.Scopes()...), "HOOK", serveSecret)
	file := s.serverFile("served.yaml", fmt.Sprintf(`forge: {kind: gitea, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()), fmt.Sprintf(`data: %q
poll: 1h
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
	for wait := 2 * time.Second; !s.repo.Pulls.Get(1).Merged && wait < time.Minute; wait *= 2 {
		w.wait(wait)
		w.reconciles()
	}
	s.says("prod", "web:1.1.0")
	w.stop()
}
