package app_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
	"promoter/internal/server"
	"promoter/internal/store"
)

// serveOn serves a story on a database that the test opened too.
func serveOn(t *testing.T, s *story, db *database.DB) *served {
	t.Helper()
	w, opened := openService(t, s)
	w.db = db
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	options := app.ServeOptions{Listener: listener, Debounce: -1, Log: slog.New(slog.NewJSONHandler(w, nil))}
	go func() { ended <- app.ServeOn(ctx, opened, db, options) }()
	w.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
	w.until("reconciled")
	w.rests()
	return w
}

// openService opens the service of a story.
func openService(t *testing.T, s *story) (*served, *connect.Server) {
	t.Helper()
	s.write("service.yaml", fmt.Sprintf(`version: 1
data: %q
poll: 1h
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/gitops}
api: {token: "env:API"}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
networks: [127.0.0.0/8]
%s`, filepath.Join(s.dir, "data"), s.forge.URL(), s.expand(insecureRegistry)))
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"TOKEN": s.token, "HOOK": serveSecret, "API": serveToken}[name]
		return value, ok
	}
	opened, err := connect.OpenService(connect.Options{WritePace: -1, Config: filepath.Join(s.dir, "service.yaml"), Env: env, Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return &served{story: s, lines: make(chan string, 1000)}, opened
}

// health requests a health page.
func (w *served) health(path string) int {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// keeps checks that each accepted delivery is in the database.
func (w *served) keeps(db *database.DB, accepted int) {
	w.t.Helper()
	kept, err := store.New(db).Deliveries(w.t.Context(), accepted+100)
	if err != nil || len(kept) != accepted {
		w.t.Errorf("%d deliveries are kept, %d were accepted, %v", len(kept), accepted, err)
	}
}

// A PostgreSQL server goes down and comes back: meanwhile nothing is accepted and the
// service is not ready, nothing that was accepted is lost, and it continues by itself.
func TestServe_databaseServerIsDown(t *testing.T) {
	t.Parallel()
	wire, o := databasetest.NewWire(t)
	db := databasetest.Open(t, o)
	s := newStory(t, "github", reviewed)
	s.clock.set(time.Now()) // the time of the server
	w := serveOn(t, s, db)
	if status := w.post("images", s.expand(`{"image": "$R/acme/web:1.0.9"}`)); status != http.StatusAccepted {
		t.Fatalf("before: %d", status)
	}
	w.until("reconciled")
	wire.Cut()
	s.release("web", "1.1.0")
	image := s.expand(`{"image": "$R/acme/web:1.1.0"}`)
	for range 3 {
		if status := w.post("images", image); status != http.StatusServiceUnavailable {
			t.Errorf("a webhook while it is gone: %d", status)
		}
	}
	if status := w.health("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("ready while it is gone: %d", status)
	}
	if status := w.health("/healthz"); status != http.StatusOK {
		t.Errorf("alive while it is gone: %d", status)
	}
	wire.Restore()
	if status := w.post("images", image); status != http.StatusAccepted {
		t.Errorf("when it is back: %d", status)
	}
	w.until("opened")
	w.until("reconciled")
	if status := w.health("/readyz"); status != http.StatusOK {
		t.Errorf("ready when it is back: %d", status)
	}
	s.pulls(stagingHead + " open")
	w.keeps(db, 2)
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// A full disk: nothing is accepted that is not stored, and when there is space again
// the service continues without a restart.
func TestServe_diskIsFull(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	db := databasetest.Open(t, database.Options{Path: filepath.Join(s.dir, "data", "promoter.db"), Now: s.clock.Now})
	w := serveOn(t, s, db)
	pages(t, db, 200)
	accepted, padding := 0, strings.Repeat("x", 20_000)
	for status := 0; status != http.StatusServiceUnavailable; accepted++ {
		body := s.expand(fmt.Sprintf(`{"image": "$R/acme/other:%d", "padding": %q}`, accepted, padding))
		switch status = w.post("images", body); {
		case status == http.StatusServiceUnavailable:
			accepted--
		case status != http.StatusAccepted || accepted > 1000:
			t.Fatalf("the delivery %d: %d", accepted, status)
		}
	}
	if line := w.until("request failed"); !strings.Contains(line, "the disk is full; free some space") {
		t.Errorf("the log says %s", line)
	}
	w.keeps(db, accepted)
	pages(t, db, 100_000)
	s.release("web", "1.1.0")
	if status := w.post("images", s.expand(`{"image": "$R/acme/web:1.1.0"}`)); status != http.StatusAccepted {
		t.Errorf("when there is room: %d", status)
	}
	w.until("opened")
	w.until("reconciled")
	w.keeps(db, accepted+1)
	if got := w.events(server.HistoryQuery{Environment: "staging"}); len(got) != 1 {
		t.Errorf("the history: %v", got)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// pages limits the database like a full disk.
func pages(t *testing.T, db *database.DB, most int) {
	t.Helper()
	if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{new(int)}, fmt.Sprintf("pragma max_page_count = %d", most))
	}); err != nil {
		t.Fatal(err)
	}
}

// A damaged database file: the service does not start, explains what to do, and does
// not change the file.
func TestServe_databaseFileIsDamaged(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w, opened := openService(t, s)
	file := filepath.Join(s.dir, "data", "promoter.db")
	garbage := bytes.Repeat([]byte("promoter"), 5000)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := app.Serve(ctx, opened, app.ServeOptions{Log: slog.New(slog.NewJSONHandler(w, nil)), Listening: func(net.Addr) { t.Error("it answers") }})
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("%v", err)
	}
	for _, word := range []string{file, "damaged", "move the file away", "backup"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("it does not say %q: %v", word, err)
		}
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, garbage) {
		t.Errorf("the file was changed: %v", err)
	}
}
