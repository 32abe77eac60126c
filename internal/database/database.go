package database

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Options name the database to open. Exactly one of Path and URL is set.
type Options struct {
	// Path is the SQLite file. If it does not exist, it is created, readable by its
	// owner only. SQLite creates files beside it; PATH.lock keeps a second process out.
	Path string
	// URL is a PostgreSQL server: postgres://user:password@host/database, with the
	// parameters of libpq, for instance sslmode.
	URL secret.String
	// Now is the clock. SQLite requires one; PostgreSQL uses the clock of the server if
	// it is nil, so that all replicas agree on the time.
	Now func() time.Time
	// CommitHook, if set, wraps every commit. Crash tests use it.
	CommitHook CommitHook
}

// CommitHook receives what a transaction has executed, and commits it. Tests end the
// process before or after the commit.
type CommitHook func(done []Statement, commit func() error) error

// Statement is one that a transaction has executed, in the dialect of its database.
type Statement struct {
	Text      string
	Arguments []any
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect dialect
	now     func() time.Time // nil: the clock of the server
	explain func(context.Context, error) error
	ended   func(error) bool // the connection had ended before anything was sent; nil: they do not end
	hook    CommitHook

	read    *sql.DB
	write   *sql.DB       // PostgreSQL: the same pool; SQLite: one connection
	turn    chan struct{} // SQLite: writers queue here in order of arrival
	timeout time.Duration // of a transaction; 0: none
	present func() error  // SQLite: the file is still there
	closing []func() error
	closed  atomic.Bool
	damage  atomic.Pointer[error] // the first error about data that is damaged
}

// Open opens the database and migrates its schema. It refuses a database whose schema
// is newer than this release. The caller must close it.
func Open(ctx context.Context, o Options) (*DB, error) {
	db, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	db.hook = o.CommitHook
	return db, nil
}

func (o Options) open(ctx context.Context) (*DB, error) {
	switch {
	case (o.Path == "") == o.URL.IsZero():
		return nil, fault.New(fault.Invalid, "specify the database by either a path or a URL")
	case o.Path != "" && o.Now == nil:
		return nil, fault.New(fault.Internal, "an SQLite database was opened without a clock")
	case o.Path != "":
		return openSQLite(ctx, o.Path, o.Now)
	default:
		return openPostgreSQL(ctx, o.URL, o.Now)
	}
}

// Name returns SQLite or PostgreSQL.
func (d *DB) Name() string { return d.dialect.name }

// SingleProcess reports whether no other process can use the database.
func (d *DB) SingleProcess() bool { return d.dialect.name == sqliteName }

// Close closes the database after the transactions that are in progress.
func (d *DB) Close() error {
	d.closed.Store(true)
	if d.turn != nil {
		d.turn <- struct{}{}
		defer func() { <-d.turn }()
	}
	var failed []error
	for i := len(d.closing) - 1; i >= 0; i-- {
		failed = append(failed, d.closing[i]())
	}
	d.closing = nil
	return errors.Join(failed...)
}

// Healthy reports whether the database can be written, by writing to it. It returns
// when ctx ends, even if the write takes longer. A database of which a part is damaged is not healthy, although other parts
// of it can be written.
func (d *DB) Healthy(ctx context.Context) error {
	if damage := d.damage.Load(); damage != nil {
		return *damage
	}
	if d.present != nil {
		if err := d.present(); err != nil {
			return err
		}
	}
	written := make(chan error, 1)
	go func() {
		written <- d.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx *Tx) error {
			_, err := tx.Exec(ctx, "update heartbeat set written_at = @now")
			return err
		})
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return fault.New(fault.Temporary, "the database was not written in time: %w", context.Cause(ctx))
	}
}

// noting returns explain, which also remembers the first error about damaged data.
func (d *DB) noting(explain func(context.Context, error) error, isDamage func(error) bool) func(context.Context, error) error {
	return func(ctx context.Context, err error) error {
		explained := explain(ctx, err)
		if err != nil && isDamage(err) {
			d.damage.CompareAndSwap(nil, &explained)
		}
		return explained
	}
}

// ClockSkew returns how far the given clock is ahead of the clock of the database,
// as far as the duration of the query allows to tell. SQLite has no clock.
func (d *DB) ClockSkew(ctx context.Context, now func() time.Time) (time.Duration, error) {
	if d.SingleProcess() {
		return 0, nil
	}
	var micros int64
	begin := now()
	err := d.View(ctx, func(ctx context.Context, tx *Tx) error { return tx.One(ctx, []any{&micros}, "select @now") })
	end, server := now(), Time(micros)
	switch {
	case err != nil:
		return 0, err
	case begin.After(server):
		return begin.Sub(server), nil
	case end.Before(server):
		return end.Sub(server), nil
	}
	return 0, nil
}

// keepFreePages is how many free pages of 4 KiB Shrink leaves for new rows.
const keepFreePages = 2000

// Shrink returns the space of deleted rows to the file system, 500 pages at a time so
// that writers wait for some milliseconds only. It has no effect on PostgreSQL, which
// vacuums itself.
func (d *DB) Shrink(ctx context.Context) error {
	if d.dialect.name != sqliteName {
		return nil
	}
	for before := int64(-1); ; {
		var free int64
		err := d.Update(ctx, func(ctx context.Context, tx *Tx) error {
			if err := tx.One(ctx, []any{&free}, "pragma freelist_count"); err != nil || free <= keepFreePages {
				return err
			}
			_, err := tx.Exec(ctx, "pragma incremental_vacuum(500)")
			return err
		})
		if err != nil || free <= keepFreePages || free == before {
			return err
		}
		if before = free; ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// Micros returns a time as it is stored: microseconds since 1970, 0 for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time returns the time of a stored value, in UTC.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
