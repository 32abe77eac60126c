package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"promoter/internal/fault"
)

// View calls a function that reads one consistent state of the database. It cannot
// write.
func (d *DB) View(ctx context.Context, read func(context.Context, *Tx) error) error {
	ctx, err := enter(ctx)
	if err != nil {
		return err
	}
	// SQLite's readers are opened read-only, and their transactions see one state anyway.
	var options *sql.TxOptions
	if d.dialect.name != sqliteName {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	on, err := d.begin(ctx, d.read, options)
	if err != nil {
		return err
	}
	defer func() { _ = on.Rollback() }() // nothing was written
	return read(ctx, &Tx{db: d, on: on})
}

// maxAttempts is how often Update tries a transaction that conflicts with others.
const maxAttempts = 4

// Update calls a function that writes in one transaction. When it returns nil, the
// changes are on disk; when it returns an error, nothing was changed, except that a
// commit whose confirmation was lost may have taken effect.
func (d *DB) Update(ctx context.Context, write func(context.Context, *Tx) error) error {
	if d.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.timeout)
		defer cancel()
	}
	return d.update(ctx, write)
}

func (d *DB) update(ctx context.Context, write func(context.Context, *Tx) error) error {
	ctx, err := enter(ctx)
	if err != nil {
		return err
	}
	if d.turn != nil {
		select {
		case d.turn <- struct{}{}:
			defer func() { <-d.turn }()
		case <-ctx.Done():
			return fault.New(fault.Temporary, "waiting for the database: %w", context.Cause(ctx))
		}
	}
	if d.closed.Load() {
		return fault.New(fault.Temporary, "the database is closed: promoter is stopping")
	}
	for range maxAttempts {
		if err = d.attempt(ctx, write); !errors.Is(err, errSerialization) {
			return err
		}
	}
	return err
}

func (d *DB) attempt(ctx context.Context, write func(context.Context, *Tx) error) error {
	on, err := d.begin(ctx, d.write, nil)
	if err != nil {
		return err
	}
	defer func() { _ = on.Rollback() }() // no effect after the commit
	tx := &Tx{db: d, on: on}
	if err := write(ctx, tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	commit := on.Commit
	if d.hook != nil {
		commit = func() error { return d.hook(tx.done, on.Commit) }
	}
	if err := commit(); err != nil {
		return d.explain(ctx, err)
	}
	for _, call := range tx.afterCommit {
		call()
	}
	return nil
}

// begin begins a transaction. The server may have ended connections that were idle: nothing was
// done on them yet, so others are tried, and at last a new one.
func (d *DB) begin(ctx context.Context, pool *sql.DB, options *sql.TxOptions) (on *sql.Tx, err error) {
	for range maxConnections + 1 {
		on, err = pool.BeginTx(ctx, options)
		if err == nil || ctx.Err() != nil || d.ended == nil || !d.ended(err) {
			break
		}
	}
	return on, d.explain(ctx, err)
}

// errSerialization is wrapped by errors of transactions that conflicted with another
// one and can be tried again.
var errSerialization = errors.New("another transaction was in the way")

type insideTransaction struct{}

// enter returns the context of a transaction. A nested transaction could wait for a
// connection that the outer one holds, so it is an error.
func enter(ctx context.Context) (context.Context, error) {
	if ctx.Value(insideTransaction{}) != nil {
		return nil, fault.New(fault.Internal, "a transaction was begun within another one")
	}
	return context.WithValue(ctx, insideTransaction{}, true), nil
}

// Tx is a transaction in progress. Queries are written in the dialect of this package.
type Tx struct {
	db          *DB
	on          *sql.Tx
	failed      error // the first failed statement: the transaction cannot be committed
	afterCommit []func()
	done        []Statement // for the commit hook
}

// Scan reads the columns of a row into pointers. A time is read from Micros.
type Scan func(columns ...any) error

// timeColumn is a column with a time.
type timeColumn struct{ into *time.Time }

// Scan implements sql.Scanner.
func (c timeColumn) Scan(stored any) error {
	var micros sql.NullInt64
	err := micros.Scan(stored)
	*c.into = Time(micros.Int64)
	return err
}

// scannable returns columns of which those for times can be scanned.
func scannable(columns []any) []any {
	all := slices.Clone(columns)
	for i, column := range all {
		if into, isTime := column.(*time.Time); isTime {
			all[i] = timeColumn{into}
		}
	}
	return all
}

// Exec runs a statement and returns the number of rows it changed. Times among the
// arguments are stored as Micros. A failed statement fails the transaction, so use
// "on conflict" for rows that may exist.
func (t *Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	text, args = t.prepare(text, args)
	result, err := t.on.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	changed, err := result.RowsAffected()
	return changed, t.fail(ctx, err)
}

// Query runs a query and calls the function for each row. No other statement may run
// until it returns.
func (t *Tx) Query(ctx context.Context, row func(Scan) error, text string, args ...any) (err error) {
	text, args = t.prepare(text, args)
	rows, err := t.on.QueryContext(ctx, text, args...)
	if err != nil {
		return t.fail(ctx, err)
	}
	defer func() { err = cmp.Or(err, t.fail(ctx, rows.Close())) }()
	scan := func(columns ...any) error { return t.fail(ctx, rows.Scan(scannable(columns)...)) }
	for rows.Next() {
		if err := row(scan); err != nil {
			return err
		}
	}
	return t.fail(ctx, rows.Err())
}

// ErrNoRow is the error of a query that found no row. Its kind is fault.NotFound.
var ErrNoRow = errors.New("the database has no such row")

// One reads the first row of a query into the columns.
func (t *Tx) One(ctx context.Context, columns []any, text string, args ...any) error {
	found := false
	err := t.Query(ctx, func(scan Scan) error {
		if found {
			return nil
		}
		found = true
		return scan(columns...)
	}, text, args...)
	if err == nil && !found {
		return fault.Wrap(fault.NotFound, ErrNoRow)
	}
	return err
}

// AfterCommit registers a function that is called when the transaction is on disk. It
// must be quick and must not use the database.
func (t *Tx) AfterCommit(call func()) { t.afterCommit = append(t.afterCommit, call) }

// prepare translates a statement, converts times, and adds the current time if the
// statement uses it as an argument.
func (t *Tx) prepare(written string, args []any) (string, []any) {
	q := t.db.dialect.translate(written)
	out := make([]any, len(args), len(args)+1)
	for i, arg := range args {
		if at, ok := arg.(time.Time); ok {
			arg = Micros(at)
		}
		out[i] = arg
	}
	if q.now {
		out = append(out, Micros(t.db.now()))
	}
	if t.db.hook != nil {
		t.done = append(t.done, Statement{q.text, out})
	}
	return q.text, out
}

// fail explains and records why a statement failed.
func (t *Tx) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = t.db.explain(ctx, err)
	t.failed = cmp.Or(t.failed, err)
	return err
}
