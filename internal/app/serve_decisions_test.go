package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/secret"
	"promoter/internal/state"
	"promoter/internal/view"
)

const readToken = "canary-token-that-reads-0123456789abcdef"

// decidable is a service with a token that operates staging, one that only reads, and users.
func decidable(t *testing.T, dryRun bool) (s *story, w *served) {
	t.Helper()
	s = newStory(t, "github", reviewed)
	return s, decides(s, dryRun)
}

// decides starts the service of decidable for a story.
func decides(s *story, dryRun bool) *served {
	s.t.Helper()
	s.repo.Settings.Permit("eve", "read")
	reads := writeFile(s.t, filepath.Join(s.dir, "reads"), readToken)
	file := s.serverFile("decisions.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
url: https://promoter.example.com
repositories: [{forge: forge, name: acme/gitops}]
api:
  tokens:
    ops: {token: "env:API", roles: [operate], environments: [staging]}
    dashboard: {token: "file:%s"}
  oidc:
    issuer: https://id.example.com
    clientID: promoter
    roles: [{claim: groups, values: [ops], roles: [operate]}]
    users: {claim: login, forge: forge}
`, filepath.Join(s.dir, "data"), reads))
	w := s.launch(openService(s.t, file, s.secrets(), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1, DryRun: dryRun})
	w.reconciles()
	return w
}

// asUser sends a decision from the session of a user of the provider.
func (w *served) asUser(login, decision string) (status int, body string) {
	w.t.Helper()
	key, err := os.ReadFile(filepath.Join(w.dir, "data", "session.key"))
	if err != nil {
		w.t.Fatal(err)
	}
	sessions := &access.Sessions{Key: secret.New(strings.TrimSpace(string(key))), Now: w.clock.Now, OIDC: &access.Mapping{
		Issuer: "https://id.example.com", ClientID: "promoter", UserClaim: "login", UserForge: "forge",
		Roles: []access.ClaimRoles{{Claim: "groups", Values: []string{"ops"}, Roles: []access.Role{access.Operate}}},
	}}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/api/v1/decisions", strings.NewReader(decision))
	if err != nil {
		w.t.Fatal(err)
	}
	claims := map[string][]string{"groups": {"ops"}}
	if login != "" {
		claims["login"] = []string{login}
	}
	signedIn := httptest.NewRecorder()
	if _, err := sessions.SignInIdentity(signedIn, request, access.Identity{Subject: "u-" + login, Claims: claims}); err != nil {
		w.t.Fatal(err)
	}
	request.AddCookie(signedIn.Result().Cookies()[0])
	_, session, _ := sessions.Authenticate(request)
	request.Header.Set("X-CSRF-Token", sessions.CSRF(session))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// A token decides within its scope and under its own name. The repository is reconciled, and
// the history names the token.
func TestServe_recordsDecisionsOfTokens(t *testing.T) {
	t.Parallel()
	s, w := decidable(t, false)
	const hold = `{"verb": "hold", "environment": "staging", "application": "shop", "reason": "incident 42"}`
	first := w.call(http.MethodPost, "/api/v1/decisions", serveToken, hold)
	var decided api.Decided
	if err := json.Unmarshal([]byte(first.text), &decided); err != nil || first.status != http.StatusOK || decided.By != (api.User{Login: "token ops"}) || decided.Unchanged ||
		decided.Subject != "Hold shop in staging: incident 42" || !strings.HasSuffix(decided.Repository, "/acme/gitops") || strings.Contains(first.text, serveToken) {
		t.Fatalf("%d %s", first.status, first.text)
	}
	if log := s.repo.Git.Run("log", "-1", "--format=%B", "promoter/_state"); !strings.HasPrefix(log, decided.Subject) {
		t.Errorf("the state branch has %s", log)
	}
	w.until("reconciled")
	page := read[api.History](w, "/api/v1/history?environment=staging")
	if len(page.Events) == 0 || page.Events[0].Action != "hold" || page.Events[0].By != "token ops" || page.Events[0].Reason == nil || page.Events[0].Reason.Message != "incident 42" {
		t.Errorf("the history has %+v", page.Events)
	}
	inEffect := read[view.Page[view.InEffect]](w, "/api/v1/decisions?environment=staging")
	if len(inEffect.Items) != 1 || inEffect.Items[0].Application != "shop" || inEffect.Items[0].Hold == nil || inEffect.Items[0].Hold.By != "token ops" {
		t.Errorf("in effect: %+v", inEffect)
	}
	for _, one := range read[view.Page[view.EnvironmentTarget]](w, "/api/v1/environments").Items {
		if one.Environment != "staging" || one.Application == "shop" && one.Status != view.Held || len(one.Components) == 0 {
			t.Errorf("a token for staging reads %+v", one)
		}
	}
	again := w.call(http.MethodPost, "/api/v1/decisions", serveToken, hold)
	if again.status != http.StatusOK || !strings.Contains(again.text, `"unchanged":true`) || !strings.Contains(again.text, "already on hold by token ops") {
		t.Errorf("again: %d %s", again.status, again.text)
	}
	for body, want := range map[string]string{
		`{"verb": "hold", "environment": "prod"}`:       "400 there is no environment prod here; there are staging",
		`{"verb": "hold"}`:                              "400 hold is about more than one target",
		`{"verb": "hold", "all": true}`:                 "403 this decision is about more than what you may operate",
		`{"verb": "confirm-state"}`:                     "403 confirm-state needs the role admin",
		`{"verb": "adopt-times"}`:                       "403 adopt-times needs the role admin",
		`{"verb": "hold", "repository": "acme/other"}`:  "404 there is no repository",
		`{"verb": "explain", "environment": "staging"}`: "400 is not a decision: use promote, hold",
		`{"verb": "rollback"}`:                          "400 rollback needs the environment",
		`{"verb": "hold", "environment": "staging", "reason": "` + strings.Repeat("long ", 201) + `"}`:              "400 the reason is longer than 1000 bytes",
		`{"verb": "hold", "environment": "staging", "dry": true}`:                                                   "400 unknown field",
		`{"verb": "promote", "environment": "staging", "application": "shop", "bypass": ["soak"], "reason": "now"}`: "403 a bypass needs a user",
	} {
		got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, body)
		status, text, _ := strings.Cut(want, " ")
		if fmt.Sprint(got.status) != status || !strings.Contains(got.text, text) {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.text, want)
		}
	}
	if got := w.call(http.MethodPost, "/api/v1/decisions", readToken, hold); got.status != http.StatusForbidden || !strings.Contains(got.text, "the role operate") {
		t.Errorf("a token that reads: %d %s", got.status, got.text)
	}
}

// A component that only files outside of the scope refer to is as one that does not exist, although
// the config lets all targets use it.
func TestServe_hidesComponentsOutsideOfTheScope(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.Replace(reviewed, "components:\n", "components:\n  keys: {image: $R/acme/keys, select: {semver: \">=1\"}}\n", 1))
	s.release("keys", "1.0.0")
	s.repo.Git.Commit("ada", "main", "Another application", map[string]string{"prod/vault.yaml": s.manifest("keys:1.0.0")})
	w := decides(s, false)
	for _, request := range []string{
		`{"verb": "reject", "environment": "staging", "application": "shop", "images": ["COMPONENT:1.0.0"]}`,
		`{"verb": "reject", "environment": "staging", "images": ["$R/acme/COMPONENT:1.0.0"]}`,
		`{"verb": "promote", "environment": "staging", "application": "shop", "with": ["COMPONENT:1.0.0"]}`,
		`{"verb": "promote", "environment": "staging", "application": "shop", "with": ["$R/acme/COMPONENT:1.0.0"]}`,
	} {
		ask := func(component string) string {
			got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, s.expand(strings.ReplaceAll(request, "COMPONENT", component)))
			w.rests()
			later := w.call(http.MethodGet, "/api/v1/environments", serveToken, "") // with the reasons of a reconciliation
			if !strings.Contains(later.text, `"shop"`) || strings.Contains(request, "promote") && !strings.Contains(got.text+later.text, component) {
				t.Errorf("%s: %s, later %s", request, got.text, later.text)
			}
			return strings.ReplaceAll(fmt.Sprint(got.status, " ", got.text, " ", later.text), component, "COMPONENT")
		}
		hidden, absent := ask("keys"), ask("none")
		if hidden != absent || !strings.HasPrefix(absent, "400") && strings.Contains(request, "reject") {
			t.Errorf("%s: %s, and of a component that does not exist %s", request, hidden, absent)
		}
	}
	got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, `{"verb": "reject", "environment": "staging", "application": "shop", "images": ["web:1.0.0"]}`)
	if got.status != http.StatusOK {
		t.Errorf("in the scope: %d %s", got.status, got.text)
	}
}

// A user decides as the login on the forge, and may not do more than with a comment.
func TestServe_recordsDecisionsOfUsers(t *testing.T) {
	t.Parallel()
	s, w := decidable(t, false)
	const freeze = `{"verb": "freeze", "environment": "prod", "until": "2030-01-01T00:00:00Z"}`
	for login, want := range map[string]string{
		"eve": "only users who may write to acme/gitops may freeze here",
		"":    "has no login on the forge forge",
	} {
		if status, body := w.asUser(login, freeze); status != http.StatusForbidden || !strings.Contains(body, want) {
			t.Errorf("%q: %d %s", login, status, body)
		}
	}
	status, body := w.asUser("ada", freeze)
	if status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"by":{"host":%q,"login":"ada"}`, s.forge.Host())) {
		t.Fatalf("ada: %d %s", status, body)
	}
	w.until("reconciled")
	if found := s.repo.Git.Run("grep", "-h", "login", "promoter/_state"); !strings.Contains(found, `"ada"`) || strings.Contains(found, `"eve"`) {
		t.Errorf("the state branch has %s", found)
	}
	if found := s.repo.Git.Run("show", "promoter/_state:prod/_all.json"); !strings.Contains(found, `"id"`) {
		t.Errorf("no account is recorded, so that its user could rename it and be another one: %s", found)
	}
	if status, body := w.asUser("ada", freeze); status != http.StatusOK || !strings.Contains(body, `"unchanged":true`) {
		t.Errorf("again: %d %s", status, body)
	}
}

// A state branch that was deleted is confirmed by a token with the role admin, and not by one that
// only operates.
func TestServe_confirmsADeletedStateBranchForAdmins(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	admin := writeFile(t, filepath.Join(s.dir, "admin"), readToken)
	file := s.serverFile("decisions.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}]
seal: {keys: ["file:%s"]}
api:
  tokens:
    ops: {token: "env:API", roles: [operate]}
    root: {token: "file:%s", roles: [admin]}
`, filepath.Join(s.dir, "data"), writeFile(t, filepath.Join(s.dir, "seal"), strings.Repeat("0123456789", 4)), admin))
	w := s.launch(openService(t, file, s.secrets(), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()
	if got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, `{"verb": "hold", "environment": "staging"}`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.text)
	}
	w.until("reconciled")
	s.repo.Git.Run("update-ref", "-d", "refs/heads/promoter/_state")
	if err := os.RemoveAll(filepath.Join(s.dir, "data", "mirrors")); err != nil { // else it is restored
		t.Fatal(err)
	}
	for _, one := range []struct{ token, want string }{
		{serveToken, "403 confirm-state needs the role admin"}, {readToken, "200 promoter/_state is confirmed as it is now"},
	} {
		got := w.call(http.MethodPost, "/api/v1/decisions", one.token, `{"verb": "confirm-state"}`)
		status, text, _ := strings.Cut(one.want, " ")
		if fmt.Sprint(got.status) != status || !strings.Contains(got.text, text) {
			t.Errorf("%d %s, want %s", got.status, got.text, one.want)
		}
	}
	w.until("reconciled")
	got := w.call(http.MethodPost, "/api/v1/decisions", readToken, `{"verb": "adopt-times"}`)
	if got.status != http.StatusOK || !strings.Contains(got.text, "there is nothing to adopt") {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// A dry run records nothing, and answers what would be recorded and what follows.
func TestServe_dryRunOfADecision(t *testing.T) {
	t.Parallel()
	s, w := decidable(t, false)
	got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, `{"verb": "hold", "environment": "staging", "application": "s*", "dryRun": true, "reason": "incident"}`)
	if got.status != http.StatusOK || !strings.Contains(got.text, `"dryRun":true`) || !strings.Contains(got.text, `"application":"shop"`) ||
		!strings.Contains(got.text, "then shop in staging: already up to date") {
		t.Errorf("%d %s", got.status, got.text)
	}
	if text := s.repo.Git.Run("for-each-ref", "refs/heads/promoter/_state"); strings.Contains(text, "_state") && strings.Contains(s.repo.Git.Run("log", "--format=%s", state.Branch), "Hold") {
		t.Error("it was recorded")
	}
}

// A service that writes nothing records no decision.
func TestServe_dryRunRefusesDecisions(t *testing.T) {
	t.Parallel()
	_, w := decidable(t, true)
	if got := w.call(http.MethodPost, "/api/v1/decisions", serveToken, `{"verb": "hold", "environment": "staging"}`); got.status != http.StatusConflict || !strings.Contains(got.text, "--dry-run") {
		t.Errorf("%d %s", got.status, got.text)
	}
}
