package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/webhook"
	"promoter/internal/webhook/credential"
)

const (
	hookSecret = "a-secret-of-the-webhook"
	pathSecret = "canary-0123456789abcdef0123456789abcdef"
)

// inbox keeps what the server takes, or fails.
type inbox struct {
	mu    sync.Mutex
	taken []server.Accepted
	err   error
}

func (i *inbox) Accept(_ context.Context, taken server.Accepted) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err == nil {
		i.taken = append(i.taken, taken)
	}
	return i.err
}

// world is a server with two receivers and what it wrote.
type world struct {
	*server.Server
	inbox *inbox
	log   *strings.Builder
	mu    sync.Mutex
	seen  []server.Observation
}

func newWorld(t *testing.T, change func(*server.Options)) *world {
	t.Helper()
	w := &world{inbox: &inbox{}, log: &strings.Builder{}}
	options := server.Options{
		Receivers: []*webhook.Receiver{
			receiver(t, webhook.Options{Name: "forge", Kind: "github", Credential: credential.Options{Secret: secret.New(hookSecret)}}),
			receiver(t, webhook.Options{Name: "hub", Kind: "dockerhub", Credential: credential.Options{PathSecret: secret.New(pathSecret)}}),
		},
		Inbox: w.inbox, Ready: func(context.Context) error { return nil },
		Observe: w.observe,
		Log:     slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:     func() time.Time { return time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC) },
	}
	if change != nil {
		change(&options)
	}
	made, err := server.New(options)
	if err != nil {
		t.Fatal(err)
	}
	w.Server = made
	return w
}

func (w *world) observe(o server.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

func receiver(t *testing.T, options webhook.Options) *webhook.Receiver {
	t.Helper()
	made, err := webhook.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const push = `{"repository": {"id": 7, "full_name": "acme/gitops", "html_url": "https://github.com/acme/gitops"}}`

func newRequest(method, path string, body io.Reader) *http.Request {
	return httptest.NewRequestWithContext(context.Background(), method, path, body)
}

func post(path, body string, headers ...string) *http.Request {
	r := newRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-GitHub-Event", "push")
	r.Header.Set("X-GitHub-Delivery", "d-1")
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(body))
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (w *world) answer(r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, r)
	return recorder
}

func TestWebhook_answersWithTheStatusOfTheError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		request *http.Request
		status  int
		body    string
		taken   int
	}{
		{"a push", post("/webhooks/forge", push), http.StatusAccepted, `{"delivery":"d-1","events":1}`, 1},
		{"not meant for us", post("/webhooks/forge", push, "X-GitHub-Event", "star"), http.StatusAccepted, `{"delivery":"d-1","events":0,"ignored":"the event does not matter"}`, 0},
		{"an image, by the path", post("/webhooks/hub/"+pathSecret, `{"repository":{"repo_name":"acme/web"},"push_data":{"tag":"1"}}`), http.StatusAccepted, `"events":1`, 1},
		{"a wrong signature", post("/webhooks/forge", push, "X-Hub-Signature-256", "sha256=00"), http.StatusUnauthorized, `"detail":"unknown receiver, or a wrong or missing credential"`, 0},
		{"no signature", post("/webhooks/forge", push, "X-Hub-Signature-256", ""), http.StatusUnauthorized, `"detail":"unknown receiver, or a wrong or missing credential"`, 0},
		{"a wrong secret in the path", post("/webhooks/hub/wrong", push), http.StatusUnauthorized, `"detail":"unknown receiver, or a wrong or missing credential"`, 0},
		{"an unknown receiver", post("/webhooks/nobody", push), http.StatusUnauthorized, `"detail":"unknown receiver, or a wrong or missing credential"`, 0},
		{"garbage", post("/webhooks/forge", "{"), http.StatusBadRequest, "cannot be read", 0},
		{"too large", post("/webhooks/forge", strings.Repeat(" ", 2<<20+1)), http.StatusRequestEntityTooLarge, `"status":413`, 0},
		{"a GET", newRequest(http.MethodGet, "/webhooks/forge", nil), http.StatusMethodNotAllowed, `"status":405`, 0},
		{"another page", newRequest(http.MethodGet, "/nothing", nil), http.StatusNotFound, `"status":404`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			got := w.answer(test.request)
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.body) {
				t.Errorf("%d %s, want %d with %s", got.Code, got.Body, test.status, test.body)
			}
			if len(w.inbox.taken) != test.taken {
				t.Errorf("%d deliveries kept, want %d", len(w.inbox.taken), test.taken)
			}
		})
	}
}

// What cannot be kept is not answered with success: the sender tries again.
func TestWebhook_isNotAcceptedUnlessStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.inbox.err = fault.New(fault.Temporary, "the disk is full: canary-of-the-database")
	got := w.answer(post("/webhooks/forge", push))
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "5" || strings.Contains(got.Body.String(), "canary") {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
	if !strings.Contains(w.log.String(), "the disk is full") {
		t.Errorf("the log says nothing: %s", w.log)
	}
}

// The secret of a path is in no log, and nothing that is a credential is kept.
func TestWebhook_revealsNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.answer(post("/webhooks/hub/"+pathSecret, `{"repository":{"repo_name":"acme/web"},"push_data":{"tag":"1"}}`, "Authorization", "canary"))
	if strings.Contains(w.log.String(), "canary") {
		t.Errorf("the log holds the secret: %s", w.log)
	}
	for _, taken := range w.inbox.taken {
		for name, values := range taken.Header {
			if strings.Contains(strings.Join(values, " "), "canary") || strings.HasPrefix(name, "X-Hub-Signature") {
				t.Errorf("kept %s: %s", name, values)
			}
		}
	}
}

// A receiver is charged for events, not for deliveries: one that triggers nothing is free,
// and one with many events is not cheaper than many deliveries.
func TestWebhook_limitsTheEventsOfAReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) { o.Rate, o.Burst = 1, 2 })
	for range 5 {
		if got := w.answer(post("/webhooks/forge", `{"zen": "keep it simple"}`, "X-GitHub-Event", "ping")); got.Code != http.StatusAccepted {
			t.Fatalf("ping: %d %s", got.Code, got.Body)
		}
	}
	var codes []int
	for range 3 {
		codes = append(codes, w.answer(post("/webhooks/forge", push)).Code)
	}
	if codes[0] != http.StatusAccepted || codes[1] != http.StatusAccepted || codes[2] != http.StatusTooManyRequests {
		t.Errorf("answers %v", codes)
	}
	if last := w.seen[len(w.seen)-1]; last.Receiver != "forge" || last.Status != http.StatusTooManyRequests {
		t.Errorf("observed %+v", last)
	}
	if got := w.answer(post("/webhooks/hub/"+pathSecret, dockerPush)); got.Code != http.StatusAccepted {
		t.Errorf("another receiver: %d", got.Code)
	}
}

// A registry that notifies of pulls does so for those of promoter too: they do not count
// against the limit of the receiver, and are no news in the log.
func TestWebhook_pullNotificationsAreFreeAndQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *server.Options) {
		o.Rate, o.Burst = 1, 2
		o.Receivers = []*webhook.Receiver{
			receiver(t, webhook.Options{Name: "registry", Kind: "distribution", Credential: credential.Options{Secret: secret.New(hookSecret), Header: "X-Registry"}}),
			receiver(t, webhook.Options{Name: "harbor", Kind: "harbor", Credential: credential.Options{Secret: secret.New(hookSecret), Header: "Authorization"}}),
		}
	})
	notify := func(action string) int {
		body := `{"events": [{"id": "e", "action": "` + action + `", "request": {"host": "registry.example.com"}, "target": {"mediaType": ` +
			`"application/vnd.oci.image.manifest.v1+json", "repository": "acme/web", "tag": "1.0.0", "digest": "sha256:` + strings.Repeat("1", 64) + `"}}]}`
		return w.answer(post("/webhooks/registry", body, "X-Registry", "Bearer "+hookSecret)).Code
	}
	for range 50 {
		if got := notify("pull"); got != http.StatusAccepted {
			t.Fatalf("a pull: %d", got)
		}
	}
	for _, name := range []string{"PULL_ARTIFACT", "pullImage", "harbor.artifact.pulled"} {
		body := `{"type": "` + name + `", "event_data": {"resources": [{"tag": "1.0.0", "resource_url": "harbor.example.com/acme/web:1.0.0"}]}}`
		if got := w.answer(post("/webhooks/harbor", body, "Authorization", hookSecret)); got.Code != http.StatusAccepted {
			t.Errorf("%s from Harbor: %d %s", name, got.Code, got.Body)
		}
	}
	if log := w.log.String(); strings.Count(log, "level=DEBUG msg=\"webhook received\"") != 53 || strings.Contains(log, "level=INFO") {
		t.Errorf("the log has\n%s", log)
	}
	if got := notify("push"); got != http.StatusAccepted || len(w.inbox.taken) != 1 {
		t.Errorf("a push after that: %d, %d taken", got, len(w.inbox.taken))
	}
}

func TestReady_reportsWhyNot(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database does not answer")
	w := newWorld(t, func(o *server.Options) { o.Ready = func(context.Context) error { return broken } })
	if got := w.answer(newRequest(http.MethodGet, "/readyz", nil)); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), broken.Error()) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} { // monitors ask either way
		if got := w.answer(newRequest(method, "/healthz", nil)); got.Code != http.StatusOK {
			t.Errorf("the process answers %s with %d", method, got.Code)
		}
		if got := w.answer(newRequest(method, "/readyz", nil)); got.Code != http.StatusServiceUnavailable {
			t.Errorf("%s of its readiness: %d", method, got.Code)
		}
	}
}
