package database

import (
	"context"
	"errors"
	"sync/atomic"

	"promoter/internal/fault"
)

// member is one caller of a batch. The batch goes round: it hands each member the
// transaction in turn, and the member's own goroutine uses it, so that a panic
// there ends that caller alone.
type member struct {
	db    *DB
	ctx   context.Context //nolint:containedctx // the member is one call, and this is its context
	write func(context.Context, *Tx) error

	taken  atomic.Bool // by a batch, or by leaving before one came
	turn   chan *Tx
	played chan error
	result chan error // of size one

	// What the batch keeps of the last turn.
	tx   *Tx
	err  error
	gone bool // the goroutine is unwinding and takes no turn and no result

	answers answers // of the batch
}

// follow takes turns until the result is there.
func (m *member) follow(ctx context.Context) error {
	over := ctx.Done()
	for {
		select {
		case tx := <-m.turn:
			m.play(tx)
		case err := <-m.result:
			return err
		case <-over:
			if m.taken.CompareAndSwap(false, true) {
				return fault.New(fault.Temporary, "waiting for the database: %w", context.Cause(ctx))
			}
			over = nil // a batch has it: what happens next is the result
		}
	}
}

// errUnwound says that a function did not return: it panicked, or a test ended.
var errUnwound = errors.New("the function did not return")

// play does the work once and hands the transaction back, come what may.
func (m *member) play(tx *Tx) {
	err := errUnwound
	defer func() { m.played <- err }()
	err = m.write(m.ctx, tx)
}

// takeTurn is the side of the batch. It returns what went wrong.
func (m *member) takeTurn(on querier) error {
	m.tx = &Tx{db: m.db, on: on, answers: m.answers}
	m.turn <- m.tx
	m.err = <-m.played
	m.gone = errors.Is(m.err, errUnwound)
	if m.err == nil {
		m.err = m.tx.failed
	}
	return m.err
}
