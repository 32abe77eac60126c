package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// hooks is a server with the webhooks of destinations and the Receiver of Flux.
type hooks struct {
	url   string
	down  atomic.Bool // it responds with 503
	mutex sync.Mutex
	got   []string // the first part of the path, and the key that signed the request
}

func newHooks(t *testing.T, keys ...string) *hooks {
	t.Helper()
	h := &hooks{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if h.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		by := ""
		for _, key := range keys {
			mac := hmac.New(sha256.New, []byte(key))
			mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "." + string(body)))
			if r.Header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
				by = key
			}
		}
		h.mutex.Lock()
		defer h.mutex.Unlock()
		h.got = append(h.got, strings.Split(r.URL.Path, "/")[1]+" "+by)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *hooks) received() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Clone(h.got)
}

// The permissions and addresses of the server file with which promoter sends something count, and not those
// with which it was queued: the operator takes destinations from a repository, moves one, replaces a secret,
// and removes a receiver while messages and a request to Flux wait. What may not be sent is reported, is given
// up, and is not sent later.
func TestServe_asksWhatIsPermittedWhenItSends(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		s := newStory(t, "github", `notify: [{on: [landed], to: kept}, {on: [landed], to: shrunk}, {on: [landed], to: gone}]
`+reviewed)
		const oldKey, newKey = "canary-key-before-the-restart!!!", "canary-key-after-the-restart!!!!"
		h := newHooks(t, oldKey, newKey)
		options := kind.New(t)
		options.Now = s.clock.Now
		db := databasetest.Open(t, options)
		if err := os.Mkdir(filepath.Join(s.dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		launch := func(name, key, text string) *served {
			file := s.serverFile(name+".yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
				fmt.Sprintf("data: %q\npoll: 1h\nrepositories: [{forge: forge, name: acme/gitops}]\napi: {token: \"env:API\"}\n", filepath.Join(s.dir, "data"))+
					strings.NewReplacer("HOOKS", h.url, "REPOSITORY", s.forge.Host()+"/acme/gitops").Replace(text))
			env := environ("TOKEN", s.token, "HOOK", serveSecret, "API", serveToken, "KEY", "whsec_"+base64.StdEncoding.EncodeToString([]byte(key)))
			w := s.launch(openService(t, file, env, s.clock.Now), db, slog.LevelInfo, app.ServeOptions{
				Debounce: -1, Queue: queue.Options{FirstRetry: 200 * time.Millisecond, LastRetry: 200 * time.Millisecond},
			})
			w.reconciles()
			return w
		}
		const before = `receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
notify:
  destinations:
    kept: {repositories: [REPOSITORY], webhook: {url: "HOOKS/kept", secret: "env:KEY", insecure: true}}
    shrunk: {repositories: [REPOSITORY], webhook: {url: "HOOKS/shrunk", secret: "env:KEY", insecure: true}}
    gone: {repositories: [REPOSITORY], webhook: {url: "HOOKS/gone", secret: "env:KEY", insecure: true}}
afterLanding:
  flux: {repositories: [REPOSITORY], flux: {url: "HOOKS", receiver: flux-system/gitops, token: "env:HOOK", insecure: true}}
`
		h.down.Store(true)
		w := launch("before", oldKey, before)
		w.publish("web", "1.1.0")
		for _, name := range []string{"notify kept about", "notify shrunk about", "notify gone about", `"kind":"landing"`} {
			waitForLine(t, "run failed", name, w, w)
		}
		w.stop()
		h.down.Store(false)

		w = launch("after", newKey, `receivers:
  others: {kind: generic, secret: "env:HOOK", header: X-Signature}
notify:
  destinations:
    kept: {repositories: [REPOSITORY], webhook: {url: "HOOKS/moved", secret: "env:KEY", insecure: true}}
    shrunk: {repositories: ["*/others/*"], webhook: {url: "HOOKS/shrunk", secret: "env:KEY", insecure: true}}
afterLanding:
  flux: {repositories: ["*/others/*"], flux: {url: "HOOKS", receiver: flux-system/gitops, token: "env:HOOK", insecure: true}}
`)
		waitForLine(t, "notification not sent", "notify shrunk about", w, w)
		waitForLine(t, "notification not sent", "notify gone about", w, w)
		waitForLine(t, "after landing failed", `"destination":"flux"`, w, w)
		w.rests()
		status := w.status()
		var reported []string
		for _, one := range status.Notifications {
			reported = append(reported, fmt.Sprint(one.Destination, " ", one.Waiting, " ", one.Failed, " ", one.Error))
		}
		about := " about shop in dev of " + s.forge.Host() + "/acme/gitops: not sent: there is no destination "
		want := []string{
			`gone 0 1 notify gone` + about + `"gone" that this repository may use`, "kept 0 0 ",
			`shrunk 0 1 notify shrunk` + about + `"shrunk" that this repository may use`,
		}
		if diff := cmp.Diff(want, reported); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		history, err := w.client(serveToken).History(t.Context(), api.HistoryQuery{Environment: "dev", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		const refused = "flux: not sent: there is no such destination that this repository may use"
		if !slices.ContainsFunc(history.Events, func(e api.Event) bool {
			return e.Action == "afterLanding" && e.Application == "shop" && e.Reason != nil && e.Reason.Message == refused
		}) {
			t.Errorf("the history has no %q: %+v", refused, history.Events)
		}
		const noReceiver = "the server file has no receiver images of the kind generic any more"
		if _, err := w.client(serveToken).Replay(t.Context(), api.Replay{ID: status.Deliveries[0].ID}); err == nil || !strings.Contains(err.Error(), noReceiver) {
			t.Errorf("replay for a receiver that was removed: %v", err)
		}
		w.stop()

		w = launch("again", newKey, before)
		w.rests()
		w.stop()
		if diff := cmp.Diff([]string{"moved " + newKey}, h.received()); diff != "" {
			t.Errorf("received (-want +got):\n%s", diff)
		}
	})
}
