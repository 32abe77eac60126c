package app_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
	"promoter/internal/scm/forgetest"
	"promoter/internal/store"
)

// At each durable effect of the service a process is killed just before the commit, the
// next one just after it. A third one reaches the same end as without kills.
func TestServe_killedAtEveryPoint(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		l := &lives{mortal: newMortal(t, kind, chain, "1h")}
		l.start(l.orders)
		l.settle()
		for i, at := range points {
			if i == 0 && kind.Name != "SQLite" {
				continue // leases of replicas expire by time
			}
			if l.live(at); t.Failed() {
				t.Fatalf("killed where %s; the log of the last process:\n%s", at.name, l.process.log())
			}
		}
		l.process.end()
		l.calm()
	})
}

// lives are processes that are killed at every point, one after the other.
type lives struct {
	*mortal
	n int // of the last released version
}

// live kills two processes, and lets a third one finish the work. Between the
// processes, a version is released and the previous one is merged.
func (l *lives) live(at point) {
	l.t.Helper()
	l.process.kill()
	if open := l.open(); open > 0 {
		l.repo.Pulls.Merge("ada", open, "squash")
	}
	l.n++
	l.release("web", l.version(l.n))
	for _, before := range []bool{true, false} {
		l.prepare(at.name)
		l.die(at, before)
	}
	l.start(l.orders)
	l.settle()
	l.putRight()
}

// die kills one process.
func (l *lives) die(at point, before bool) {
	l.t.Helper()
	o := l.orders
	o.Point, o.Before = at.name, before
	l.start(o)
	webhook := l.happened("push")
	ofDelivery := at.text == "insert into delivery"
	if ofDelivery && l.process.answers() {
		l.post(webhook)
	}
	select {
	case <-l.process.dead:
	case <-time.After(patience):
		l.t.Fatalf("%s: the point was not reached (before: %t):\n%s", at.name, before, l.process.log())
	}
	l.killed()
	l.forge.Traffic.Watch(l.watch)
	if ofDelivery {
		l.keptWithItsWork(webhook, !before)
	}
}

func (l *lives) version(n int) string { return fmt.Sprintf("1.%d.0", n) }

// prepare causes what leads to a point.
func (l *lives) prepare(name string) {
	l.t.Helper()
	switch name {
	case "subscriptions are stored":
		component := fmt.Sprintf("  more-%d: {image: $R/acme/more-%d, select: {semver: \">=1\"}}\nenvironments:", l.n, l.n)
		l.repo.Git.Commit("ada", "main", "One more", map[string]string{
			".promoter.yaml": l.expand(strings.Replace(chain, "environments:", component, 1)),
		})
	case "a reconciliation failed":
		l.forge.Fail("GIT info/refs", 403, "the test forbids it")
	case "a lease is renewed":
		l.forge.Traffic.Watch(func(route string) {
			if strings.HasPrefix(route, "GIT ") {
				<-l.present().dead
			}
		})
	case "old deliveries are removed":
		l.addDelivery("old", time.UnixMicro(1), 0)
	case "deliveries beyond the bound are removed":
		day := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
		l.addDelivery("large", day.Add(largeMicros*time.Microsecond), 1<<20)
	case "a repository is deleted", "work is forgotten":
		l.addStranger()
	}
}

// The size limit deletes what is older than the next microsecond of a large delivery,
// which identifies the transaction: no other time has so many microseconds.
const (
	largeMicros = 271827
	beyondBound = "271828"
)

// addDelivery stores a delivery.
func (l *lives) addDelivery(id string, at time.Time, size int) {
	l.t.Helper()
	l.books(func(db *database.DB) error {
		return db.Update(l.t.Context(), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.Exec(ctx, `
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body)
values ('images', ?, 'generic', 'push', ?, ?, 1, '[]', '{}', ?) on conflict do nothing`, id, at, at, make([]byte, size))
			return err
		})
	})
}

// stranger is the key of a repository that the server file does not contain any more.
const stranger = "forge.example.com/77"

// addStranger stores it, and triggers it.
func (l *lives) addStranger() {
	l.t.Helper()
	l.books(func(db *database.DB) error {
		work, err := queue.New(l.t.Context(), db, "test")
		if err != nil {
			return err
		}
		err = db.Update(l.t.Context(), func(ctx context.Context, tx *database.Tx) error {
			repository := store.Repository{Key: stranger, Forge: "forge", Host: "forge.example.com", Name: "acme/gone"}
			_, err := store.New(db).RecordReconciliation(ctx, tx, repository, store.HistoryUpdate{})
			return err
		})
		if err != nil {
			return err
		}
		return work.Trigger(l.t.Context(), queue.Trigger{Kind: "repository", Key: stranger})
	})
}

// books opens the database while no process serves.
func (m *mortal) books(do func(*database.DB) error) {
	m.t.Helper()
	db, err := database.Open(m.t.Context(), m.options)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		m.t.Fatal(err)
	}
}

// keptWithItsWork checks that a delivery and the work that it triggers are both stored,
// or neither is.
func (l *lives) keptWithItsWork(webhook delivery, want bool) {
	l.t.Helper()
	l.books(func(db *database.DB) error {
		kept, hinted := 0, 0
		err := db.View(l.t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return errors.Join(
				tx.One(ctx, []any{&kept}, "select count(*) from delivery where id = ?", webhook.id),
				tx.One(ctx, []any{&hinted}, "select count(*) from work where key = ? and triggered > done", l.key()))
		})
		if (kept == 1) != want || want && hinted != 1 {
			l.t.Errorf("%d deliveries are kept, %d repositories are to be looked at; want them: %t", kept, hinted, want)
		}
		return err
	})
}

// putRight checks that the state is as if no process had been killed: the new version
// is in dev and proposed once to staging, and the previous one went on to prod, with
// one commit each.
func (l *lives) putRight() {
	l.t.Helper()
	last := l.version(l.n - 1)
	l.holds("dev", l.version(l.n)+" 1.0.0")
	l.holds("staging", last+" 1.0.0")
	l.holds("prod", last+" 1.0.0")
	for environment, commits := range map[string]int{"dev": l.n + 1, "staging": l.n, "prod": l.n} {
		if got := l.repo.Git.Run("rev-list", "--count", "main", "--", environment); got != fmt.Sprint(commits) {
			l.t.Errorf("%s commits in %s, want %d", got, environment, commits)
		}
	}
	heads := map[string]int{}
	for _, pull := range l.repo.Pulls.All() {
		heads[pull.Head]++
	}
	if heads[stagingHead] != l.n || heads[prodHead] != l.n-1 || !strings.Contains(l.repo.Pulls.Get(l.open()).Title, l.version(l.n)) {
		l.t.Errorf("pull requests: %v", heads)
	}
	l.keptAll()
	if kept := l.deliveries(l.t); kept["images/old"] || kept["images/large"] {
		l.t.Error("a delivery is still there that is old or beyond the bound")
	}
	for _, e := range l.work(l.t) {
		if e.key == stranger {
			l.t.Errorf("a repository that is gone is still worked on: %+v", e)
		}
	}
}

// open is the number of the open pull request; zero: there is none.
func (l *lives) open() int {
	return 1 + slices.IndexFunc(l.repo.Pulls.All(), func(p forgetest.PullState) bool { return p.Open })
}
