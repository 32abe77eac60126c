package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
)

func TestHealthy_writes(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		if err := db.Healthy(t.Context()); err != nil {
			t.Error(err)
		}
		if beat := database.Time(number(t, db, "select written_at from heartbeat")); time.Since(beat).Abs() > time.Hour {
			t.Errorf("written at %v", beat)
		}
	})
}

func TestUpdate_reportsALockedFile(t *testing.T) {
	t.Parallel()
	o := file(t)
	db := databasetest.Open(t, o)
	table(t, db)
	other, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(o.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "begin immediate"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := db.Healthy(ctx); fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "not written in time") {
		t.Errorf("health: %v", err)
	}
	if err := insert(db, "waited", 1); fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "locked by another program") {
		t.Errorf("a write: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if err := insert(db, "free", 1); err != nil {
		t.Error(err)
	}
	if stored := number(t, db, "select count(*) from thing"); stored != 1 {
		t.Errorf("%d stored", stored)
	}
}

func TestUpdate_reportsAFullDisk(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, file(t))
	table(t, db)
	limit := func(pages int) {
		t.Helper()
		if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return tx.One(ctx, []any{new(int)}, fmt.Sprintf("pragma max_page_count = %d", pages))
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(100) // more than the tables take
	stored, full := int64(0), error(nil)
	for i := 0; full == nil && i < 1000; i++ {
		if full = insert(db, strings.Repeat("x", 1000)+fmt.Sprint(i), i); full == nil {
			stored++
		}
	}
	if fault.KindOf(full) != fault.Temporary || !strings.Contains(full.Error(), "disk is full") {
		t.Errorf("error %v", full)
	}
	limit(1000)
	if err := insert(db, "room", 1); err != nil {
		t.Error(err)
	}
	if got := number(t, db, "select count(*) from thing"); got != stored+1 || stored == 0 {
		t.Errorf("%d stored, want %d", got, stored+1)
	}
}

func temporary(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if fault.KindOf(err) != fault.Temporary {
		t.Errorf("%s: %v is %s", what, err, fault.KindOf(err))
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: the error lacks %q: %v", what, word, err)
		}
	}
}

// TestUpdate_recoversWhenTheServerReturns cuts the connection and restores it. What was
// confirmed is stored.
func TestUpdate_recoversWhenTheServerReturns(t *testing.T) {
	t.Parallel()
	w, o := databasetest.NewWire(t)
	db := databasetest.Open(t, o)
	table(t, db)
	if err := insert(db, "before", 1); err != nil {
		t.Fatal(err)
	}
	w.Cut()
	temporary(t, "a write", insert(db, "meanwhile", 1))
	temporary(t, "another write", insert(db, "meanwhile", 1), "cannot be reached", "user promoter")
	temporary(t, "health", db.Healthy(t.Context()), "cannot be reached")
	temporary(t, "a view", db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{new(int)}, "select 1")
	}), "cannot be reached")
	w.Restore()
	if err := db.Healthy(t.Context()); err != nil {
		t.Errorf("health when it is back: %v", err)
	}
	if err := insert(db, "after", 1); err != nil {
		t.Error(err)
	}
	if stored := number(t, db, "select count(*) from thing where name in ('before', 'after')"); stored != 2 {
		t.Errorf("%d stored", stored)
	}
}

// TestUpdate_givesUpOnAServerThatDoesNotAnswer: no caller waits forever.
func TestUpdate_givesUpOnAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w, o := databasetest.NewWire(t)
	db := databasetest.Open(t, o)
	table(t, db)
	database.SetTimeout(db, 300*time.Millisecond)
	w.Swallow()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	temporary(t, "health", db.Healthy(ctx), "not written in time")
	temporary(t, "a write", insert(db, "meanwhile", 1))
	w.Restore()
	database.SetTimeout(db, time.Minute)
	if err := db.Healthy(t.Context()); err != nil {
		t.Errorf("health when it answers again: %v", err)
	}
}

// The first transaction after an outage needs a connection that works, however many have ended.
func TestUpdate_idleConnectionsEnded(t *testing.T) {
	t.Parallel()
	w, o := databasetest.NewWire(t)
	db := databasetest.Open(t, o)
	table(t, db)
	const open = 10
	var readers sync.WaitGroup
	reading := make(chan struct{}, open)
	release := make(chan struct{})
	for range open {
		readers.Go(func() {
			if err := db.View(t.Context(), func(context.Context, *database.Tx) error {
				reading <- struct{}{}
				<-release
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range open {
		<-reading
	}
	close(release)
	readers.Wait()
	w.Cut()
	w.Restore()
	if err := insert(db, "after", 1); err != nil {
		t.Errorf("the first transaction: %v", err)
	}
}
