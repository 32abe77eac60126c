package database

import (
	"context"
	"database/sql"
)

// View reads: the function sees one state of the database, whatever is written
// meanwhile, and can change nothing.
func (d *DB) View(ctx context.Context, read func(context.Context, *Tx) error) error {
	ctx, err := enter(ctx)
	if err != nil {
		return err
	}
	tx, err := d.read.BeginTx(ctx, d.viewing())
	if err != nil {
		return d.explain(ctx, err)
	}
	// Nothing was written, so it ends the same either way.
	defer func() { _ = tx.Rollback() }()
	return read(ctx, &Tx{db: d, on: tx})
}

// viewing: SQLite's readers are read only by how they are opened, and its
// transactions see one state anyway.
func (d *DB) viewing() *sql.TxOptions {
	if d.words.name == sqliteName {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}
