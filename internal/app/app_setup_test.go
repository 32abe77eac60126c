package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/app"
)

const setupWord = "canary-setup-0123456789abcdef0123456789abcdef"

// serveApp serves a file with a GitHub App and a receiver for it, and does not wait.
func (s *story) serveApp(right, receiver string, env ...string) *served {
	s.t.Helper()
	return s.launch(openService(s.t, s.appFile(right, receiver), environ(env...), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: -1})
}

func (s *story) appFile(right, receiver string) string {
	s.t.Helper()
	forge := fmt.Sprintf(`github: {kind: github, url: "%s", insecure: true, %s}`, s.forge.URL(), right)
	return s.serverFile("app.yaml", forge, fmt.Sprintf(`url: https://promoter.example.com
data: %q
poll: 1h
receivers:
  hook: {kind: github, %s}`, filepath.Join(s.dir, "data"), receiver))
}

// signedBy sends the webhook of GitHub for an installation of the App, signed with a
// secret.
func (w *served) signedBy(key string, want int) {
	w.t.Helper()
	body := fmt.Sprintf(`{"action": "created", "installation": {"account": {"html_url": "%s/acme"}}}`, w.forge.URL())
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/webhooks/hook", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("X-Github-Event", "installation")
	request.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode != want {
		w.t.Errorf("a webhook that %q signed: %d", key, response.StatusCode)
	}
}

// browser opens pages of the service, whose own name does not resolve here.
func (w *served) browser() browser {
	return browser{t: w.t, at: func(address string) string { return strings.Replace(address, "https://promoter.example.com", w.url, 1) }}
}

// One click on a new service: the App is created, its webhooks are accepted, and its
// repositories are reconciled, without another file and without a restart. After a
// restart the secret of the page is not needed.
func TestServe_setup(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	const right, receiver = `app: {setup: "env:SETUP", organization: acme}`, `app: github`
	w := s.serveApp(right, receiver, "SETUP", setupWord)
	w.until("could not open a repository")
	w.signedBy("anything", http.StatusUnauthorized)

	b := w.browser()
	page := "https://promoter.example.com/setup/github/" + setupWord
	if status, _ := b.get(page + "x"); status != http.StatusUnauthorized {
		t.Errorf("a wrong secret: %d", status)
	}
	to := b.press(page)
	if !strings.HasPrefix(to, "https://promoter.example.com/setup/github?code=") {
		t.Fatalf("the browser is sent to %s", to)
	}
	if status, words := b.get(to); status != http.StatusOK || !strings.Contains(words, "Nothing needs to be restarted") {
		t.Fatalf("%d\n%s", status, words)
	}
	of := s.forge.Apps()[0]
	if hook := of.Hook(); hook.URL != "https://promoter.example.com/webhooks/hook" || of.Owner() != "acme" {
		t.Errorf("the App posts to %s and belongs to %s", hook.URL, of.Owner())
	}
	folder := filepath.Join(s.dir, "data", "apps", "github")
	if content(t, filepath.Join(folder, "private-key.pem")) != of.Key() {
		t.Error("the key is not kept")
	}
	of.Install("acme", s.repo)
	w.signedBy(of.Hook().Secret, http.StatusAccepted)
	w.signedBy("anything", http.StatusUnauthorized)
	w.until("reconciled")

	if status, words := b.get(page); status != http.StatusConflict || !strings.Contains(words, "holds the App promoter-acme already") {
		t.Errorf("the page again: %d\n%s", status, words)
	}
	w.stop()

	w = s.serveApp(right, receiver)
	b = w.browser()
	w.until("reconciled")
	w.signedBy(of.Hook().Secret, http.StatusAccepted)
	if status, _ := b.get(page); status != http.StatusNotFound {
		t.Errorf("the page without its secret: %d", status)
	}
	w.stop()
}

// Two users press at once: the credentials of one App are stored, and the other user is
// asked to delete theirs.
func TestServe_setupTwice(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := s.serveApp(`app: {setup: "env:SETUP"}`, `app: github`, "SETUP", setupWord)
	w.until("could not open a repository")
	b := w.browser()
	page := "https://promoter.example.com/setup/github/" + setupWord
	_, second := b.get(page)
	first := b.press(page)
	if status, words := b.get(first); status != http.StatusOK {
		t.Fatalf("%d\n%s", status, words)
	}
	state := formAction.FindStringSubmatch(second)[1]
	state = state[strings.Index(state, "state="):]
	if status, words := b.get("https://promoter.example.com/setup/github?code=other&" + state); status != http.StatusConflict || !strings.Contains(words, "so delete it there") {
		t.Errorf("%d\n%s", status, words)
	}
	w.stop()
}

// doctor reports what is left to do, and that it was done.
func TestDoctor_setup(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	file := s.appFile(`app: {setup: "env:SETUP"}`, `app: github`)
	check := func(env ...string) string { return checked(t, file, environ(env...), s.clock.Now) }
	const place = "make it at https://promoter.example.com/setup/github/SECRET"
	found := check("SETUP", setupWord)
	for _, want := range []string{"the forge github has no App yet: " + place, "warn receiver hook: there is no App yet", "ok secrets: 1 of 1"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
	if found := check(); !strings.Contains(found, "fail forge github: secret env:SETUP") {
		t.Errorf("without the secret:\n%s", found)
	}
	w := s.serveApp(`app: {setup: "env:SETUP"}`, `app: github`, "SETUP", setupWord)
	b := w.browser()
	b.get(b.press("https://promoter.example.com/setup/github/" + setupWord))
	w.stop()
	s.forge.Apps()[0].Install("acme", s.repo)
	if found := check(); strings.Contains(found, "fail") || !strings.Contains(found, "ok receiver hook: has a credential") {
		t.Errorf("with the App:\n%s", found)
	}
}

// A secret that can be guessed, and a file that was changed, are refused.
func TestServe_setupRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		word, kept, want string
	}{
		"a short secret": {"short", "", "app.setup of github (env:SETUP) is shorter than 32 characters"},
		"a slash in it":  {setupWord + "/b?", "", "app.setup of github (env:SETUP) has characters that mean something else in an address"},
		"a broken App":   {setupWord, "{}", "is not what promoter wrote there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "github", reviewed)
			if test.kept != "" {
				s.write("data/apps/github/app.json", test.kept)
			}
			server := openService(t, s.appFile(`app: {setup: "env:SETUP"}`, `app: github`), environ("SETUP", test.word), s.clock.Now)
			err := app.Serve(t.Context(), server, app.ServeOptions{Log: slog.New(slog.DiscardHandler)})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), setupWord) {
				t.Errorf("got %v", err)
			}
		})
	}
}
