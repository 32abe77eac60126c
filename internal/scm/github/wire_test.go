package github

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/secret"
)

// githubtest behaves like the real server; these tests define each response
// literally, including invalid ones.

const (
	canary     = "ghp_canary7f3a"
	head       = "1111111111111111111111111111111111111111"
	otherHead  = "2222222222222222222222222222222222222222"
	mergeOf    = "3333333333333333333333333333333333333333"
	repoPath   = "/repos/acme/deploy"
	branchName = "promoter/prod/web"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// wire is a server with scripted responses that records requests.
type wire struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	script map[string][]http.HandlerFunc // the last one is repeated
	asked  []string
	bodies []string
	now    time.Time
	token  string
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{t: t, script: map[string][]http.HandlerFunc{}, now: noon, token: canary}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	w.on("GET "+repoPath, says(200, repositoryJSON))
	w.on("GET /user", says(200, `{"login":"promoter","type":"User"}`))
	return w
}

const repositoryJSON = `{"id":42,"name":"deploy","full_name":"acme/deploy","owner":{"login":"acme"},"html_url":"https://github.com/acme/deploy",
"clone_url":"https://github.com/acme/deploy.git","default_branch":"main","permissions":{"push":true}}`

// on sets the responses to METHOD PATH, in order.
func (w *wire) on(route string, answers ...http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.script[route] = answers
}

// says responds with a status, a body and headers, each "Name: value".
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			out.Header().Set(name, value)
		}
		out.WriteHeader(status)
		_, _ = io.WriteString(out, body)
	}
}

// breaks closes the connection without a response.
func breaks(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	route := r.Method + " " + r.URL.Path
	w.asked, w.bodies = append(w.asked, route), append(w.bodies, string(body))
	answers := w.script[route]
	if len(answers) > 1 {
		w.script[route] = answers[1:]
	}
	w.mu.Unlock()
	if len(answers) == 0 {
		w.t.Errorf("asked for %s", route)
		says(404, `{"message":"Not Found"}`)(out, r)
		return
	}
	answers[0](out, r)
}

// requests returns the requests since the last call, with their bodies.
func (w *wire) requests() (asked, bodies []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked, bodies = w.asked, w.bodies
	w.asked, w.bodies = nil, nil
	return asked, bodies
}

func (w *wire) expect(want ...string) {
	w.t.Helper()
	if asked, _ := w.requests(); !slices.Equal(asked, want) {
		w.t.Errorf("asked for\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

func (w *wire) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *wire) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *wire) options() Options {
	return Options{
		API: w.server.URL, HTTP: w.server.Client(), Now: w.clock,
		Token: func(context.Context) (secret.String, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return secret.New(w.token), nil
		},
	}
}

func (w *wire) forge() *Forge {
	w.t.Helper()
	forge, err := New(w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return forge
}

// open opens acme/deploy and discards the recorded requests for it.
func (w *wire) open() scm.Repository {
	w.t.Helper()
	repository, err := w.forge().Open(w.t.Context(), "acme/deploy")
	if err != nil {
		w.t.Fatal(err)
	}
	w.requests()
	return repository
}

// checkFault checks kind and message, and that the text is one bounded line without
// the credential.
func checkFault(t *testing.T, err error, kind fault.Kind, words ...string) {
	t.Helper()
	if fault.KindOf(err) != kind {
		t.Errorf("got %q: %v, want %q", fault.KindOf(err), err, kind)
	}
	if err == nil {
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r\x1b") || len(text) > 2000 || strings.Contains(text, "canary") {
		t.Errorf("the text is %q", text)
	}
}

func pullJSON(number int, change string) string {
	return fmt.Sprintf(`{"number":%d,"state":"open","title":"T","body":"B","user":{"login":"promoter","type":"User"},
"head":{"ref":%q,"sha":%q,"repo":{"id":42}},"base":{"ref":"main","repo":{"id":42}},"created_at":"2026-06-01T10:00:00Z"%s}`,
		number, branchName, head, change)
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}
