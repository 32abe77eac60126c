package app_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/database"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// busy counts the work that is running or due.
const busy = "select count(*) from work where owner <> '' or triggered > done and not_before <= "

// rests waits until no work is running or due, and returns how many reconciliations the
// test did not wait for until then. The log line of a reconciliation is not the end of
// its run, and new subscriptions lead to another one.
func (w *served) rests() (reconciliations int) {
	w.t.Helper()
	return w.restsBy(w.clock.Now)
}

func (w *served) restsBy(now func() time.Time) (reconciliations int) {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); w.busy(now()) > 0; {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatal("the service does not come to rest")
		}
	}
	return w.reconciliations()
}

// busy reads the database of the service from outside.
func (w *served) busy(now time.Time) (n int) {
	w.t.Helper()
	if w.db != nil {
		return busyIn(w.t, w.db)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(w.dir, "data", "promoter.db"))+"?mode=ro&_pragma=busy_timeout(60000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	if err := db.QueryRowContext(w.t.Context(), busy+"?", now.UnixMicro()).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// busyIn reads a database that the test opened.
func busyIn(t testing.TB, db *database.DB) (n int) {
	t.Helper()
	if err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&n}, busy+"@now")
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// wait lets time pass when the service is idle: a run in progress would lose its lease,
// and start again.
func (w *served) wait(d time.Duration) {
	w.t.Helper()
	w.rests()
	w.story.wait(d)
}

// pass is wait with the clock of the orchard.
func (w *servedOrchard) pass(d time.Duration) {
	w.served.t.Helper()
	w.restsBy(w.now)
	w.orchard.pass(d)
}
