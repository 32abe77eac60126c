package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/api"
	"promoter/internal/app"
)

// A rollback lists the environments downstream that have the versions, as far as the principal may operate them, and
// with downstream it rolls them back: each needs the permission, and otherwise nothing is recorded.
func TestServe_rollsBackDownstream(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", pushed())
	s.releaseAndRun("web", "1.1.0")
	s.holds("prod", "1.1.0 1.0.0")
	file := s.serverFile("decisions.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
url: https://promoter.example.com
repositories: [{forge: forge, name: acme/gitops}]
permissions:
  - {verbs: [rollback], environments: [prod], who: [bob]}
  - {verbs: [rollback], environments: [dev, staging], who: [ada]}
api:
  tokens:
    ops: {token: "env:API", roles: [operate], environments: [dev, staging]}
  oidc:
    issuer: https://id.example.com
    clientID: promoter
    roles: [{claim: groups, values: [ops], roles: [operate]}]
    users: {claim: login, forge: forge}
`, filepath.Join(s.dir, "data")))
	w := s.launch(openService(t, file, s.secrets(), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()

	const downstream = `{"verb": "rollback", "environment": "dev", "application": "shop", "downstream": true, "reason": "errors"}`
	status, body := w.asUser("ada", downstream)
	if status != http.StatusForbidden || !strings.Contains(body, "roll back shop in prod downstream: ") {
		t.Errorf("without the permission for prod: %d %s", status, body)
	}
	if branches := s.repo.Git.Run("branch", "--list", "promoter/_state"); branches != "" &&
		strings.Contains(s.repo.Git.Run("grep", "-h", "", "promoter/_state"), "rollback") {
		t.Error("a rollback is recorded")
	}

	decide := func(text string) (decided api.Decided) {
		t.Helper()
		got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, text)
		if err := json.Unmarshal([]byte(got.text), &decided); err != nil || got.status != http.StatusOK || strings.Contains(got.text, "prod") {
			t.Fatalf("%d %s", got.status, got.text)
		}
		return decided
	}
	first := decide(strings.Replace(downstream, `"downstream": true, `, "", 1))
	if len(first.Downstream) != 1 || first.Downstream[0].Environment != "staging" ||
		first.Downstream[0].Command != "promoter rollback --env staging --app shop" || len(first.Targets) != 1 {
		t.Errorf("the first answer is %+v", first)
	}
	w.until("reconciled")
	s.holds("dev", "1.0.0 1.0.0")
	s.holds("staging", "1.1.0 1.0.0")
	second := decide(downstream)
	if len(second.Downstream) != 1 || second.Downstream[0].Command != "" || !strings.Contains(second.Downstream[0].To["web"], ":1.0.0@") {
		t.Errorf("the second answer is %+v", second)
	}
	w.until("reconciled")
	s.holds("staging", "1.0.0 1.0.0")
	s.holds("prod", "1.1.0 1.0.0")
	if third := decide(downstream); !third.Unchanged || len(third.Downstream) > 0 {
		t.Errorf("the third answer is %+v", third)
	}
}
