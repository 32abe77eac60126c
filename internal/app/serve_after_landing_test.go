package app_test

import (
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
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/database"
	"promoter/internal/queue"
)

// gitopsEngines are an Argo CD server and a notification controller of Flux.
type gitopsEngines struct {
	url   string
	mutex sync.Mutex
	sent  []string // the requests after landings
	// answer returns the status of a request and the body; zero: HTTP 200.
	answer func(request string) (status int, body string)
}

func newEngines(t *testing.T, repository string) *gitopsEngines {
	t.Helper()
	e := &gitopsEngines{answer: func(string) (int, string) { return 0, "" }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/applications" { // the poll of health
			_, _ = fmt.Fprintf(w, `{"items": [
{"metadata": {"name": "shop-staging", "namespace": "argocd"}, "spec": {"source": {"repoURL": "%s"}}, "status": {"health": {"status": "Healthy"}}},
{"metadata": {"name": "shop-staging", "namespace": "others"}, "spec": {"source": {"repoURL": "https://example.com/others/gitops"}}, "status": {}}]}`, repository)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		request := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if path, name, found := strings.Cut(request, "/hook/"); found { // the sum is tested with the package
			_, name, _ = strings.Cut(name, " ")
			request = path + "/hook/… " + name
		}
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.sent = append(e.sent, request)
		if status, text := e.answer(request); status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

// took returns the requests since the last call, sorted.
func (e *gitopsEngines) took() []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	sent := slices.Sorted(slices.Values(e.sent))
	e.sent = nil
	return sent
}

// answers lets the engines answer in another way.
func (e *gitopsEngines) answers(answer func(string) (int, string)) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.answer = answer
}

// destinations are the receivers and destinations of a server file.
func (e *gitopsEngines) destinations(repository, action string) string {
	return fmt.Sprintf(`  argo: {kind: argocd, poll: {url: "%[1]s", token: "env:HOOK", insecure: true, every: 10s}}
afterLanding:
  argo: {repositories: ["%[2]s"], argocd: {receiver: argo, action: %[3]s}}
  flux: {repositories: ["%[2]s"], environments: [staging], flux: {url: "%[1]s", receiver: flux-system/gitops, token: "env:HOOK", insecure: true}}
  others: {repositories: ["*/others/*"], flux: {url: "%[1]s", receiver: flux-system/others, token: "env:API", insecure: true}}
`, e.url, repository, action)
}

const (
	fluxOfStaging = `POST /hook/… {"repository":"%s/acme/gitops","environment":"staging"}`
	refreshOfShop = "GET /api/v1/applications/shop-staging?appNamespace=argocd&refresh=normal"
	syncOfShop    = `POST /api/v1/applications/shop-staging/sync {"appNamespace":"argocd","name":"shop-staging"}`
)

// Each landing, of promoter and of users, leads to one request for each destination that the
// repository may use; reconciliations without a landing and an empty database lead to none.
func TestServe_asksEnginesAfterLandings(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", monitored)
	e := newEngines(t, s.forge.URL()+"/acme/gitops.git")
	file := serving{quiet: -1, poll: "1h", receivers: e.destinations(s.forge.Host()+"/acme/*", "refresh")}
	w := serveAs(t, s, file)
	w.ever("health changed") // by the second poll: before the first one, the repository is not known
	w.rests()
	took := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, e.took()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	flux := fmt.Sprintf(fluxOfStaging, s.forge.Host())
	took("the first reconciliation")
	w.publish("web", "1.1.0")
	w.rests()
	took("a push of promoter", refreshOfShop, flux)
	w.notify("web:1.1.0")
	w.reconciles()
	took("nothing landed")
	s.edit("ada", "main", "staging/shop.yaml", "worker:1.0.0", "worker:0.9.0")
	w.tell("push", map[string]any{"ref": "refs/heads/main"})
	took("a push of a user", refreshOfShop, flux)
	w.stop()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(s.dir, "data", "promoter.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	w = serveAs(t, s, file)
	w.rests()
	took("a lost database")
	w.stop()
}

// A temporary failure is retried. One that a user must correct is in the history of the target,
// in the log, and in the metrics. Neither is a failure of the reconciliation.
func TestServe_notesWhatEnginesRefuse(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", monitored)
	e := newEngines(t, s.forge.URL()+"/acme/gitops.git")
	failures := 0
	e.answers(func(request string) (int, string) {
		switch {
		case request == syncOfShop:
			return http.StatusForbidden, `{"code": 7, "message": "permission denied: applications, sync, shop/shop-staging"}`
		case failures < 2:
			failures++
			return http.StatusInternalServerError, ""
		}
		return 0, ""
	})
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(s.dir, "promoter.db"), Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// The replicas share the key of the seals, as they do in a database server, and no folder.
	key := s.write("seal", strings.Repeat("0123456789", 4))
	forge := fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL())
	launch := func(name string) *served {
		data := filepath.Join(s.dir, name)
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		file := s.serverFile(name+".yaml", forge, fmt.Sprintf(`data: %q
poll: 1h
seal: {keys: ["file:%s"]}
repositories: [{forge: forge, name: acme/gitops}]
api: {token: "env:API"}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
%s`, data, key, e.destinations("*/acme/gitops", "sync")))
		return s.launch(openService(t, file, s.secrets(), s.clock.Now), db, slog.LevelInfo, app.ServeOptions{
			Debounce: -1, Queue: queue.Options{FirstRetry: 10 * time.Millisecond, LastRetry: 20 * time.Millisecond},
		})
	}
	first, second := launch("first"), launch("second") // two replicas on one database
	waitForLine(t, "health changed", "", first, second)
	first.rests()
	first.release("web", "1.1.0")
	first.notify("web:1.1.0")
	for _, want := range []string{`"destination":"flux"`, `"destination":"argo"`} {
		waitForLine(t, "", want, first, second)
	}
	flux := fmt.Sprintf(fluxOfStaging, s.forge.Host())
	if diff := cmp.Diff([]string{syncOfShop, flux, flux, flux}, e.took()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const refused = "argo: sync the Application argocd/shop-staging: Argo CD refuses the token: HTTP 403: permission denied: applications, sync, shop/shop-staging"
	history, err := first.client(serveToken).History(t.Context(), api.HistoryQuery{Environment: "staging", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, e := range history.Events {
		if e.Action == "afterLanding" && e.Reason != nil {
			notes = append(notes, e.Application+": "+e.Reason.Message)
		}
	}
	if diff := cmp.Diff([]string{"shop: " + refused}, notes); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	pages := first.metrics() + second.metrics()
	for _, want := range []string{`promoter_after_landing_total{destination="argo",result="failed"} 1`, `promoter_after_landing_total{destination="flux",result="succeeded"} 1`} {
		if !strings.Contains(pages, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	for _, repository := range first.status().Repositories {
		if repository.Failure != "" || repository.LastError != "" {
			t.Errorf("the repository failed: %+v", repository)
		}
	}
	first.stop()
	second.stop()
}

// waitForLine waits until one of several services logs a message, or the end of a request to a
// destination.
func waitForLine(t *testing.T, message, attribute string, services ...*served) {
	t.Helper()
	messages := []string{message}
	if message == "" {
		messages = []string{"after landing failed", "triggered Flux"}
	}
	has := func() bool {
		return slices.ContainsFunc(services, func(w *served) bool {
			return slices.ContainsFunc(messages, func(message string) bool { return w.all.first(message, attribute) != "" })
		})
	}
	for deadline := time.After(patience); !has(); {
		select {
		case <-services[0].lines:
		case <-services[1].lines:
		case <-deadline:
			t.Fatalf("no service logs %s %s", message, attribute)
		}
	}
}
