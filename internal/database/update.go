package database

import (
	"context"
	"errors"
)

// attempts is how often a transaction is tried that met another one.
const attempts = 4

// Update writes in a transaction of its own. On SQLite, which has one writer, that
// is a Batch.
func (d *DB) Update(ctx context.Context, write func(context.Context, *Tx) error) error {
	if d.words.name == sqliteName {
		return d.Batch(ctx, write)
	}
	ctx, err := enter(ctx)
	if err != nil {
		return err
	}
	for range attempts {
		if err = d.update(ctx, write); !isMeeting(err) {
			return err
		}
	}
	return err
}

func (d *DB) update(ctx context.Context, write func(context.Context, *Tx) error) error {
	begun, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return d.explain(ctx, err)
	}
	// Of no effect after the commit.
	defer func() { _ = begun.Rollback() }()
	on := d.surrounded(transaction{querier: begun, commit: begun.Commit})
	tx := &Tx{db: d, on: on}
	if err := write(ctx, tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	if err := tx.doDeferred(ctx, tx.deferred); err != nil {
		return err
	}
	if err := on.commit(); err != nil {
		return d.explain(ctx, err)
	}
	tx.committed()
	return nil
}

// errMeeting is in the chain of an error that says that another transaction was in
// the way, and that trying again helps.
var errMeeting = errors.New("another transaction was in the way")

func isMeeting(err error) bool { return errors.Is(err, errMeeting) }
