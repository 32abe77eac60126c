package app_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// ledger reads the database of a running service from outside.
type ledger struct {
	options        database.Options
	driver, source string
	kept           *sql.DB // of PostgreSQL; an open SQLite file would take part in its locks
}

// newLedger creates an empty database. That of SQLite is in the data folder.
func newLedger(t testing.TB, kind databasetest.Kind, data string) *ledger {
	t.Helper()
	l := &ledger{options: kind.New(t), driver: "pgx"} // skips without PostgreSQL
	l.source = l.options.URL.Reveal()
	if l.options.Path == "" {
		l.kept = l.open(t)
		t.Cleanup(func() { _ = l.kept.Close() }) // it was only read
		return l
	}
	l.options.Path = filepath.Join(data, "promoter.db")
	l.driver, l.source = "sqlite", "file:"+filepath.ToSlash(l.options.Path)+"?mode=ro&_pragma=busy_timeout(5000)"
	return l
}

func (l *ledger) open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(l.driver, l.source)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// each reads the rows of a query.
func (l *ledger) each(t testing.TB, query string, row func(scan func(...any) error) error) {
	t.Helper()
	db := l.kept
	if db == nil {
		db = l.open(t)
		defer db.Close() //nolint:errcheck // it was only read
	}
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close() //nolint:errcheck // Err returns its error
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// entry is a row of work.
type entry struct {
	kind, key, owner, lastError            string
	triggered, done, triggeredAt, failedAt int64
	next                                   time.Time
}

// work lists the work of the database.
func (l *ledger) work(t testing.TB) (all []entry) {
	t.Helper()
	l.each(t, "select kind, key, owner, last_error, triggered, done, triggered_at, failed_at, not_before from work order by kind, key",
		func(scan func(...any) error) error {
			var e entry
			var next int64
			err := scan(&e.kind, &e.key, &e.owner, &e.lastError, &e.triggered, &e.done, &e.triggeredAt, &e.failedAt, &next)
			e.next = database.Time(next)
			all = append(all, e)
			return err
		})
	return all
}

// rests reports whether no process works on it or has to.
func (e entry) rests() bool {
	return e.owner == "" && e.failedAt == 0 && (e.triggered == e.done || e.triggeredAt == 0 && time.Until(e.next) > 0)
}

// again reports whether it is retried soon because of a partial failure.
func (e entry) again() bool {
	return e.kind == "repository" && e.triggered > e.done && time.Until(e.next) < 5*time.Minute
}

// endLeases lets the leases of a dead process expire, as time would. SQLite does not
// need it: its next process releases them.
func (l *ledger) endLeases(t testing.TB) {
	t.Helper()
	if l.kept == nil {
		return
	}
	if _, err := l.kept.ExecContext(t.Context(), "update work set lease_until = 1 where owner <> ''"); err != nil {
		t.Fatal(err)
	}
}

// deliveries are the IDs of the stored deliveries, RECEIVER/ID.
func (l *ledger) deliveries(t testing.TB) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	l.each(t, "select receiver, id from delivery", func(scan func(...any) error) error {
		var receiver, id string
		err := scan(&receiver, &id)
		if all[receiver+"/"+id] {
			err = errors.Join(err, errors.New("a delivery is kept twice"))
		}
		all[receiver+"/"+id] = true
		return err
	})
	return all
}
