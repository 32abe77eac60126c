package database

import (
	"context"
	"slices"

	"promoter/internal/fault"
)

// transaction is one that a batch has begun.
type transaction struct {
	querier
	commit   func() error
	rollback func() error
}

// together commits what the members do. Nearly always all of them do well, so at
// first they go without savepoints, which would double their statements. When one
// fails everything is undone and done again with savepoints, and when even that
// fails as a whole each goes alone.
func (d *DB) together(members []*member) {
	err := d.attempt(members, false)
	if err != nil && (len(members) > 1 || isMeeting(err)) {
		err = d.again(members)
	}
	if err != nil && len(members) > 1 && fault.KindOf(err) != fault.Temporary {
		for _, m := range members {
			d.together([]*member{m})
		}
		return
	}
	answer(members, err)
}

// again tries with savepoints, as long as other transactions are in the way.
func (d *DB) again(members []*member) (err error) {
	for range attempts {
		if err = d.attempt(members, true); !isMeeting(err) {
			return err
		}
	}
	return err
}

// answer gives each member its result, and calls whom it wanted to have called.
func answer(members []*member, err error) {
	for _, m := range members {
		if m.gone {
			continue
		}
		if m.err == nil {
			m.err = err
		}
		if m.err == nil {
			m.tx.committed()
		}
		m.result <- m.err
	}
}

// attempt is one transaction of all members. Without savepoints the first failure
// is the failure of all.
func (d *DB) attempt(members []*member, savepoints bool) error {
	for _, m := range members {
		m.err = nil
	}
	// No context ends a batch: a statement of SQLite that is interrupted undoes the
	// transaction of everybody. Every wait within has a bound of its own.
	ctx := context.Background()
	on, err := d.begin(ctx)
	if err != nil {
		return d.explain(ctx, err)
	}
	on = d.surrounded(on)
	if err := d.round(ctx, on, members, savepoints); err != nil {
		// Why giving up failed would tell less.
		_ = on.rollback()
		return err
	}
	if err := on.commit(); err != nil {
		_ = on.rollback()
		return d.explain(ctx, err)
	}
	return nil
}

// round gives each member its turn and does what they deferred.
func (d *DB) round(ctx context.Context, on transaction, members []*member, savepoints bool) error {
	turn := (*member).takeTurn
	if savepoints {
		turn = func(m *member, _ querier) error { return d.guarded(ctx, on, m) }
	}
	var deferred []Deferred
	shared := answers{}
	for _, m := range members {
		if m.gone {
			continue
		}
		m.answers = shared
		if err := turn(m, on); err != nil {
			return err
		}
		if m.err != nil {
			clear(shared) // what it wrote is undone
			continue
		}
		deferred = append(deferred, m.tx.deferred...)
	}
	last := &Tx{db: d, on: on}
	return last.doDeferred(ctx, slices.Clip(deferred))
}

// guarded gives a member its turn within a savepoint. Its own failure is no failure
// of the batch, unless the database gave the whole transaction up for it.
func (d *DB) guarded(ctx context.Context, on transaction, m *member) error {
	if err := d.say(ctx, on, "savepoint member"); err != nil {
		return err
	}
	if err := m.takeTurn(on); err != nil {
		if d.say(ctx, on, "rollback to savepoint member") != nil || isMeeting(err) {
			return err
		}
	}
	return d.say(ctx, on, "release savepoint member")
}

func (d *DB) say(ctx context.Context, on querier, statement string) error {
	_, err := on.ExecContext(ctx, statement)
	return d.explain(ctx, err)
}
