package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

const setupSecret = "canary-setup-0123456789abcdef0123456789abcdef"

// maker is a creator of Apps that returns what a test wants.
type maker struct {
	offerErr, makeErr error
	codes             []string
}

func (m *maker) Preview(context.Context) (server.AppPreview, error) {
	return server.AppPreview{
		GitHub: "github.com", Owner: "acme", Action: "https://github.com/organizations/acme/settings/apps/new", Manifest: `{"name":"a\"<b>"}`,
		Permissions: []server.AppPermission{{Title: "Contents: read and write", For: "pushing <branches>"}},
		Events:      []string{"push", "pull_request"}, Hook: "https://promoter.example.com/webhooks/github",
	}, m.offerErr
}

func (m *maker) Create(_ context.Context, code string) (server.CreatedApp, error) {
	m.codes = append(m.codes, code)
	return server.CreatedApp{Name: "promoter-<acme>", Install: "https://github.com/apps/p/installations/new", Next: []string{"Have patience."}}, m.makeErr
}

// browser asks a server with one set-up.
type browser struct {
	t     *testing.T
	s     *server.Server
	log   *strings.Builder
	maker *maker
	now   time.Time
	host  string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, log: &strings.Builder{}, maker: &maker{}, now: time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC), host: "promoter.example.com"}
	b.s = newWorld(t, func(o *server.Options) {
		o.Setups = []*server.Setup{{Name: "github", Secret: secret.New(setupSecret), Creator: b.maker}}
		o.Now = func() time.Time { return b.now }
		o.Log = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}).Server
	return b
}

func (b *browser) get(path string) *http.Response {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, path, http.NoBody)
	r.Host = b.host
	w := httptest.NewRecorder()
	b.s.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

var actionOf = regexp.MustCompile(`action="https://github\.com/organizations/acme/settings/apps/new\?state=([A-Za-z0-9_-]{43})"`)

// state opens the page and takes the state of its button.
func (b *browser) state() string {
	b.t.Helper()
	page := text(b.t, b.get(server.SetupPath("github", setupSecret)))
	found := actionOf.FindStringSubmatch(page)
	if found == nil {
		b.t.Fatalf("the page has no button:\n%s", page)
	}
	return found[1]
}

func back(state, code string) string {
	return server.SetupCallbackPath("github") + "?" + url.Values{"state": {state}, "code": {code}}.Encode()
}

// The page has the button and what it brings about, needs no script, may send its
// form only to that GitHub, and sends no referrer.
func TestSetup_showsTheButton(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	answer := b.get(server.SetupPath("github", setupSecret))
	page := text(t, answer)
	for _, want := range []string{
		`<html lang="en">`, `name="manifest" value="{&#34;name&#34;:&#34;a\&#34;&lt;b&gt;&#34;}"`, `<button type="submit">`, "pushing &lt;branches&gt;",
		"<code>pull_request</code>", "https://promoter.example.com/webhooks/github", "<strong>acme</strong>", `name="viewport"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, setupSecret) {
		t.Error("the page has a script, or its own secret")
	}
	policy := answer.Header.Get("Content-Security-Policy")
	if !regexp.MustCompile(`^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; form-action https://github\.com; frame-ancestors 'none'; base-uri 'none'$`).MatchString(policy) {
		t.Errorf("policy %q", policy)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Referrer-Policy") != "strict-origin" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	if strings.Contains(b.log.String(), "canary") {
		t.Errorf("the secret is in the log:\n%s", b.log)
	}
}

// A wrong secret, an unknown forge, a missing or invented state get the same answer.
func TestSetup_refusesWithoutTheSecret(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	want := ""
	for _, path := range []string{
		server.SetupPath("github", "wrong"), server.SetupPath("gitlab", setupSecret), server.SetupPath("github", setupSecret+"x"),
		back("invented", "c"), back("", "c"), server.SetupCallbackPath("github"), server.SetupCallbackPath("nobody") + "?state=x&code=y",
	} {
		answer := b.get(path)
		got := text(t, answer)
		if want == "" {
			want = got
		}
		if answer.StatusCode != http.StatusUnauthorized || got != want {
			t.Errorf("%s: %d\n%s", path, answer.StatusCode, got)
		}
	}
	if len(b.maker.codes) > 0 {
		t.Errorf("codes were taken: %v", b.maker.codes)
	}
}

// Without a set-up there is no such address.
func TestSetup_isAbsentByDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, path := range []string{server.SetupPath("github", setupSecret), server.SetupCallbackPath("github")} {
		r := httptest.NewRecorder()
		w.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}

// A state is good once and for an hour, and of open pages the last 64 work.
func TestSetup_stateIsValidOnce(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	first := b.state()
	answer := b.get(back(first, "code-1"))
	if page := text(t, answer); answer.StatusCode != http.StatusOK || !strings.Contains(page, "promoter-&lt;acme&gt; was created") ||
		!strings.Contains(page, `href="https://github.com/apps/p/installations/new"`) || !strings.Contains(page, "Have patience.") {
		t.Errorf("%d\n%s", answer.StatusCode, page)
	}
	if code := b.get(back(first, "code-2")).StatusCode; code != http.StatusUnauthorized {
		t.Errorf("a second time: %d", code)
	}
	late := b.state()
	b.now = b.now.Add(time.Hour + time.Second)
	if code := b.get(back(late, "code-3")).StatusCode; code != http.StatusUnauthorized {
		t.Errorf("too late: %d", code)
	}
	oldest := b.state()
	second := b.state()
	for range 63 {
		b.state()
	}
	if code := b.get(back(oldest, "code-4")).StatusCode; code != http.StatusUnauthorized {
		t.Errorf("the oldest of 65 pages: %d", code)
	}
	if code := b.get(back(second, "code-5")).StatusCode; code != http.StatusOK {
		t.Errorf("the second of 65 pages: %d", code)
	}
	if got := strings.Join(b.maker.codes, " "); got != "code-1 code-5" {
		t.Errorf("codes %s", got)
	}
}

// A browser that returns without a code sees that no App was created. A temporary error
// lets it retry with the same code; a refusal does not.
func TestSetup_reportsFailures(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	answer := b.get(back(b.state(), ""))
	if page := text(t, answer); answer.StatusCode != http.StatusBadRequest || !strings.Contains(page, "no App was created") {
		t.Errorf("%d\n%s", answer.StatusCode, page)
	}
	for _, test := range []struct {
		err           error
		status, again int
	}{
		{fault.New(fault.Temporary, "GitHub is <away>"), http.StatusServiceUnavailable, http.StatusServiceUnavailable},
		{fault.New(fault.NotFound, "GitHub is <away>"), http.StatusNotFound, http.StatusUnauthorized},
		{errors.New("the disk is full; GitHub is <away>"), http.StatusInternalServerError, http.StatusUnauthorized},
	} {
		b.maker.makeErr = test.err
		state := b.state()
		answer := b.get(back(state, "c"))
		if page := text(t, answer); answer.StatusCode != test.status || !strings.Contains(page, "GitHub is &lt;away&gt;") || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%v: %d\n%s", test.err, answer.StatusCode, page)
		}
		if again := b.get(back(state, "c")).StatusCode; again != test.again {
			t.Errorf("%v: the second time %d", test.err, again)
		}
		if line := "App set-up failed"; !strings.Contains(b.log.String(), line) || !strings.Contains(b.log.String(), test.err.Error()) {
			t.Errorf("the log lacks it:\n%s", b.log)
		}
		b.log.Reset()
	}
	b.maker.offerErr = fault.New(fault.Conflict, "github has its App already")
	answer = b.get(server.SetupPath("github", setupSecret))
	if page := text(t, answer); answer.StatusCode != http.StatusConflict || !strings.Contains(page, "has its App already") || strings.Contains(page, "<form") {
		t.Errorf("%d\n%s", answer.StatusCode, page)
	}
}

// A set-up alone answers nothing else, and only under its own name: another site's
// name that leads to this machine is refused.
func TestNewSetupServer_answersOnlyItsHosts(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	var err error
	b.s, err = server.NewSetupServer(server.Options{
		Setups: []*server.Setup{{Name: "github", Secret: secret.New(setupSecret), Creator: b.maker}},
		Now:    func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
	}, "127.0.0.1:4321")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"127.0.0.1:4321": http.StatusOK, "evil.example.com:4321": http.StatusMisdirectedRequest, "127.0.0.1": http.StatusMisdirectedRequest} {
		b.host = host
		if got := b.get(server.SetupPath("github", setupSecret)).StatusCode; got != want {
			t.Errorf("%s: %d", host, got)
		}
	}
	b.host = "127.0.0.1:4321"
	for _, path := range []string{"/", "/healthz", "/metrics", "/webhooks/github"} {
		if got := b.get(path).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// A receiver that is added later is used, and replaces its
// namesake.
func TestServer_addsReceivers(t *testing.T) {
	t.Parallel()
	const first = "the-first-of-two-secrets"
	w := newWorld(t, nil)
	send := func(key string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/late", strings.NewReader(`{}`))
		r.Header.Set("Authorization", key)
		recorder := httptest.NewRecorder()
		w.ServeHTTP(recorder, r)
		return recorder.Code
	}
	if got := send(first); got != http.StatusUnauthorized {
		t.Errorf("before: %d", got)
	}
	for _, key := range []string{first, "the-second-of-two-secrets"} {
		w.Add(receiver(t, webhook.Options{Name: "late", Kind: "generic", Credential: credential.Options{Secret: secret.New(key), Header: "Authorization"}}))
		if got := send(key); got == http.StatusUnauthorized {
			t.Errorf("with %s: %d", key, got)
		}
	}
	if got := send(first); got != http.StatusUnauthorized {
		t.Errorf("with the old one: %d", got)
	}
}

// Nothing that a browser can be sent back with makes an App without a state.
func FuzzSetup_back(f *testing.F) {
	f.Add("state=x&code=y")
	f.Add("code=%zz&state[]=")
	f.Add("error=access_denied")
	f.Fuzz(func(t *testing.T, query string) {
		b := newBrowser(t)
		b.state()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, server.SetupCallbackPath("github"), http.NoBody)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		b.s.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || len(b.maker.codes) > 0 {
			t.Errorf("%d, codes %v", w.Code, b.maker.codes)
		}
	})
}
