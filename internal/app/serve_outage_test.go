package app_test

import (
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

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

// serveOn serves a story on a database that the test opened too.
func serveOn(t *testing.T, s *story, db *database.DB) *served {
	t.Helper()
	w := s.launch(s.service(), db, slog.LevelInfo, app.ServeOptions{Debounce: -1})
	w.reconciles()
	return w
}

// service opens the service of a story.
func (s *story) service() *serverfile.Server {
	s.t.Helper()
	file := s.serverFile("service.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()), fmt.Sprintf(`data: %q
poll: 1h
repositories: [{forge: forge, name: acme/gitops}]
api: {token: "env:API"}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}`, filepath.Join(s.dir, "data")))
	return openService(s.t, file, s.secrets(), s.clock.Now)
}

// keeps checks that each accepted delivery is in the database.
func (w *served) keeps(db *database.DB, accepted int) {
	w.t.Helper()
	kept, err := store.New(db).Deliveries.Newest(w.t.Context(), accepted+100)
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
	w.notify("web:1.0.9")
	w.until("reconciled")
	wire.Cut()
	s.release("web", "1.1.0")
	image := s.expand(`{"image": "$R/acme/web:1.1.0"}`)
	for range 3 {
		if status := w.post("images", image); status != http.StatusServiceUnavailable {
			t.Errorf("a webhook while it is gone: %d", status)
		}
	}
	if status, _ := w.get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("ready while it is gone: %d", status)
	}
	w.page("/healthz")
	wire.Restore()
	w.notify("web:1.1.0")
	w.until("opened")
	w.until("reconciled")
	w.page("/readyz")
	s.pulls(stagingHead + " open")
	w.keeps(db, 2)
	w.stop()
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
	w.publish("web", "1.1.0")
	w.keeps(db, accepted+1)
	if got := w.events(api.HistoryQuery{Environment: "staging"}); len(got) != 1 {
		t.Errorf("the history: %v", got)
	}
	w.stop()
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
	opened, garbage := s.service(), strings.Repeat("promoter", 5000)
	file := s.write("data/promoter.db", garbage)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := app.Serve(ctx, opened, app.ServeOptions{Log: slog.New(slog.DiscardHandler), Listening: func(net.Addr) { t.Error("it answers") }})
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("%v", err)
	}
	for _, word := range []string{file, "damaged", "move the file away", "backup"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("it does not say %q: %v", word, err)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != garbage {
		t.Errorf("the file was changed: %v", err)
	}
}
