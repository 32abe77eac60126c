package database

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"promoter/internal/fault"
)

// DB is an open database. All methods may be called by many at once.
type DB struct {
	words   dialect
	now     func() time.Time // nil: the clock of the server
	explain func(context.Context, error) error
	around  CommitHook // nil: nobody does

	read    *sql.DB
	write   *sql.DB // PostgreSQL: the same pool; SQLite has one connection instead
	begin   func(context.Context) (transaction, error)
	batches *batcher
	silence time.Duration  // PostgreSQL: of a server, until a batch gives its connection up
	closing []func() error // in reverse
}

// Name is SQLite or PostgreSQL.
func (d *DB) Name() string { return d.words.name }

// Close waits for the writes that were accepted, and closes the database.
func (d *DB) Close() error {
	d.batches.stop()
	var failed []error
	for i := len(d.closing) - 1; i >= 0; i-- {
		failed = append(failed, d.closing[i]())
	}
	d.closing = nil
	return errors.Join(failed...)
}

// inside marks the context of a function that was handed a transaction.
type inside struct{}

// enter returns the context for such a function. A transaction within another one
// would wait for a connection that the outer one holds.
func enter(ctx context.Context) (context.Context, error) {
	if ctx.Value(inside{}) != nil {
		return nil, fault.New(fault.Internal, "a transaction was begun within another one")
	}
	return context.WithValue(ctx, inside{}, true), nil
}

// SingleProcess says that no other process can use the database.
func (d *DB) SingleProcess() bool { return d.words.name == sqliteName }
