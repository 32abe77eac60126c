package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"promoter/internal/fault"
)

// Tx is a transaction under way. Its queries are written as dialect says, alike
// for both databases.
type Tx struct {
	db       *DB
	on       querier
	failed   error // of a statement: the transaction cannot be committed any more
	deferred []Deferred
	after    []func()
	answers  answers // nil: none are kept
}

// querier is what a transaction runs its queries on.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Deferred is work that a transaction does as its last. In a batch it is the last
// of all: equal work of many callers is merged and done once, in the order of
// keys, so that batches of several servers never wait for each other in a circle.
type Deferred interface {
	// Key names the work: equal keys are merged.
	Key() string
	// Merge returns this work and the other one, which has the same key and was
	// asked for later, as one.
	Merge(later Deferred) Deferred
	// Do does it.
	Do(ctx context.Context, tx *Tx) error
}

// Scan reads the columns of a row into pointers.
type Scan func(columns ...any) error

// Exec runs a statement and returns how many rows it changed. A time among the
// arguments is written as Micros. A statement that failed fails the transaction, so
// what may be there already is written with "on conflict".
func (t *Tx) Exec(ctx context.Context, written string, args ...any) (int64, error) {
	q := t.db.words.translate(written)
	result, err := t.on.ExecContext(ctx, q.text, t.arguments(q, args)...)
	if err != nil {
		return 0, t.fail(ctx, err)
	}
	changed, err := result.RowsAffected()
	return changed, t.fail(ctx, err)
}

// Query runs a query and hands each row to the function. The rows are read to the
// end before another query may run.
func (t *Tx) Query(ctx context.Context, row func(Scan) error, written string, args ...any) (err error) {
	q := t.db.words.translate(written)
	rows, err := t.on.QueryContext(ctx, q.text, t.arguments(q, args)...)
	if err != nil {
		return t.fail(ctx, err)
	}
	defer func() { err = cmp.Or(err, t.fail(ctx, rows.Close())) }()
	scan := func(columns ...any) error { return t.fail(ctx, rows.Scan(columns...)) }
	for rows.Next() {
		if err := row(scan); err != nil {
			return err
		}
	}
	return t.fail(ctx, rows.Err())
}

// fail explains why a statement failed and remembers it.
func (t *Tx) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = t.db.explain(ctx, err)
	t.failed = cmp.Or(t.failed, err)
	return err
}

// ErrNoRow says that a query that has to find a row found none. Its kind is
// fault.NotFound.
var ErrNoRow = errors.New("the database has no such row")

// One reads the first row that the query finds into the columns.
func (t *Tx) One(ctx context.Context, columns []any, written string, args ...any) error {
	found := false
	err := t.Query(ctx, func(scan Scan) error {
		if found {
			return nil
		}
		found = true
		return scan(columns...)
	}, written, args...)
	if err == nil && !found {
		return fault.Wrap(fault.NotFound, ErrNoRow)
	}
	return err
}

// Defer adds work to be done as the last of the transaction.
func (t *Tx) Defer(work Deferred) { t.deferred = append(t.deferred, work) }

// AfterCommit adds a function to be called when everything is on the disk. It must
// be quick and use no database.
func (t *Tx) AfterCommit(call func()) { t.after = append(t.after, call) }

// committed tells everybody who wanted to know.
func (t *Tx) committed() {
	for _, call := range t.after {
		call()
	}
}

// arguments turns times into numbers and adds the present one where it is asked.
func (t *Tx) arguments(q query, args []any) []any {
	out := make([]any, len(args), len(args)+1)
	for i, arg := range args {
		if moment, ok := arg.(time.Time); ok {
			arg = Micros(moment)
		}
		out[i] = arg
	}
	if q.now {
		out = append(out, Micros(t.db.now()))
	}
	return out
}

// doDeferred does the deferred work of one or many transactions.
func (t *Tx) doDeferred(ctx context.Context, work []Deferred) error {
	merged := map[string]Deferred{}
	for _, one := range work {
		if earlier, ok := merged[one.Key()]; ok {
			one = earlier.Merge(one)
		}
		merged[one.Key()] = one
	}
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		if err := merged[key].Do(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
