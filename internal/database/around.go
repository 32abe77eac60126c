package database

import (
	"context"
	"database/sql"
)

// CommitHook stands around a commit: it is told what the transaction did, and commits.
// Tests end the process before that or after, for a crash is nowhere else as
// instructive.
type CommitHook func(done []Statement, commit func() error) error

// Statement is one that a transaction ran, in the words of its database.
type Statement struct {
	Text      string
	Arguments []any
}

// surrounded lets whoever wants to stand around the commit of a transaction.
func (d *DB) surrounded(on transaction) transaction {
	if d.around == nil {
		return on
	}
	seen, commit := &seeing{querier: on.querier}, on.commit
	on.querier = seen
	on.commit = func() error { return d.around(seen.done, commit) }
	return on
}

// seeing writes down what is run.
type seeing struct {
	querier
	done []Statement
}

// ExecContext runs a statement.
func (s *seeing) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s.done = append(s.done, Statement{query, args})
	return s.querier.ExecContext(ctx, query, args...)
}

// QueryContext runs a query.
func (s *seeing) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s.done = append(s.done, Statement{query, args})
	return s.querier.QueryContext(ctx, query, args...)
}
