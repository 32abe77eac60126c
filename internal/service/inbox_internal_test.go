package service

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/event"
	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/telemetry"
	"promoter/internal/webhook"
)

// Webhooks that arrive during a commit share the next transaction. If that fails, each of
// them has one of its own.
func TestInbox_sharesTransactions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails       int64 // the commit that fails, counted from 1; 0: none
		wantCommits int64
		wantFailed  int
	}{
		"all are stored":                    {wantCommits: 2},
		"the shared transaction fails":      {fails: 2, wantCommits: 5},
		"the transaction of one alone also": {fails: 1, wantCommits: 2, wantFailed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
				var counting atomic.Bool
				var commits atomic.Int64
				begun, release := make(chan struct{}), make(chan struct{})
				o := kind.New(t)
				o.CommitHook = func(_ []database.Statement, commit func() error) error {
					if !counting.Load() {
						return commit()
					}
					n := commits.Add(1)
					if n == 1 {
						close(begun)
						<-release
					}
					if n == test.fails {
						return errors.New("the disk is full")
					}
					return commit()
				}
				db := databasetest.Open(t, o)
				work, err := queue.New(t.Context(), db, "test")
				if err != nil {
					t.Fatal(err)
				}
				stored := store.New(db)
				inbox := &Inbox{db: db, queue: work, store: stored, discovery: &discovery{}, metrics: telemetry.New(telemetry.Options{}), log: slog.New(slog.DiscardHandler)}
				pending := func(n int) *pendingWebhook {
					return &pendingWebhook{ctx: t.Context(), stored: make(chan error, 1), accepted: server.Accepted{
						Receiver: "registry", Sender: "generic", Body: []byte("{}"),
						Delivery: webhook.Delivery{ID: fmt.Sprint(n), EventType: "push", Events: []event.Event{
							{Kind: event.KindImage, Image: event.Image{Host: "quay.io", Path: "acme/web"}},
						}},
					}}
				}
				counting.Store(true)
				all := []*pendingWebhook{pending(0)}
				inbox.enqueue(all[0])
				<-begun
				for n := 1; n <= 3; n++ {
					all = append(all, pending(n))
					inbox.enqueue(all[n])
				}
				close(release)
				failed := 0
				for n, one := range all {
					err := <-one.stored
					if err != nil {
						failed++
					}
					if _, found := stored.Deliveries.Get(t.Context(), "registry", fmt.Sprint(n)); (err == nil) != (found == nil) {
						t.Errorf("delivery %d: %v, and reading it: %v", n, err, found)
					}
				}
				if got := commits.Load(); got != test.wantCommits || failed != test.wantFailed {
					t.Errorf("%d commits, %d failed webhooks; want %d and %d", got, failed, test.wantCommits, test.wantFailed)
				}
			})
		})
	}
}

// Webhooks whose shared transaction failed are stored side by side: with a database that
// does not respond, each of them would otherwise wait for the timeouts of all before it.
func TestInbox_storesSideBySideAfterAFailure(t *testing.T) {
	t.Parallel()
	const webhooks = 3
	kind := databasetest.Kinds()[1] // SQLite has one writer
	o := kind.New(t)                // skips without PostgreSQL
	var counting atomic.Bool
	var commits atomic.Int64
	begun, release := make(chan struct{}), make(chan struct{})
	together := make(chan struct{})
	o.CommitHook = func(_ []database.Statement, commit func() error) error {
		if !counting.Load() {
			return commit()
		}
		n := commits.Add(1)
		switch n {
		case 1:
			close(begun)
			<-release
		case 2:
			return errors.New("the disk is full")
		case 2 + webhooks:
			close(together)
		}
		if n > 2 {
			<-together // none commits before all are about to
		}
		return commit()
	}
	db := databasetest.Open(t, o)
	work, err := queue.New(t.Context(), db, "test")
	if err != nil {
		t.Fatal(err)
	}
	inbox := &Inbox{db: db, queue: work, store: store.New(db), discovery: &discovery{}, metrics: telemetry.New(telemetry.Options{}), log: slog.New(slog.DiscardHandler)}
	var all []*pendingWebhook
	counting.Store(true)
	for n := range 1 + webhooks {
		// No events: rows that several webhooks lock would make them wait for each other.
		one := &pendingWebhook{ctx: t.Context(), stored: make(chan error, 1), accepted: server.Accepted{
			Receiver: "registry", Sender: "generic", Body: []byte("{}"), Delivery: webhook.Delivery{ID: fmt.Sprint(n), EventType: "push"},
		}}
		inbox.enqueue(one)
		if n == 0 {
			<-begun
		}
		all = append(all, one)
	}
	close(release)
	for n, one := range all {
		if err := <-one.stored; err != nil {
			t.Errorf("delivery %d: %v", n, err)
		}
	}
}
