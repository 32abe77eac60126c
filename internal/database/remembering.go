package database

import (
	"context"
	"database/sql"
	"errors"
)

// remembering is a connection that compiles each statement once. Only the goroutine
// of the batches uses it. Statements are constants of the program, so the map does
// not grow.
type remembering struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
}

func (r *remembering) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := r.known[query]; ok {
		return stmt, nil
	}
	// It is closed with its connection.
	stmt, err := r.conn.PrepareContext(ctx, query)
	if err == nil {
		r.known[query] = stmt
	}
	return stmt, err
}

// ExecContext runs a statement.
func (r *remembering) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := r.prepare(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext runs a query.
func (r *remembering) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := r.prepare(ctx, query) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// begin takes the write lock at once: a transaction that reads first and then wants
// to write could be refused.
func (r *remembering) begin(ctx context.Context) (transaction, error) {
	on := transaction{querier: r}
	on.commit = func() error { return r.exec(ctx, "commit") }
	on.rollback = func() error { return r.exec(ctx, "rollback") }
	return on, r.exec(ctx, "begin immediate")
}

func (r *remembering) exec(ctx context.Context, statement string) error {
	_, err := r.ExecContext(ctx, statement)
	return err
}

// close gives the statements back: with one of them left SQLite would keep the file
// open, and would not write its log back into it.
func (r *remembering) close() error {
	var failed []error
	for _, stmt := range r.known {
		failed = append(failed, stmt.Close())
	}
	return errors.Join(failed...)
}
