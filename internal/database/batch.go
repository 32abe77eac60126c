package database

import (
	"context"
	"sync"

	"promoter/internal/fault"
)

// Bounds of a batch: how many writes one commit serves, and how many may wait.
// Everybody who waits is a goroutine with a request, so the second bound is far.
const (
	maxBatch   = 256
	maxWaiting = 10_000
)

// Batch writes in one transaction with all others who wait at this moment: one
// commit and one flush serve them all. Each caller gets its own result, and what
// one of them does wrong undoes nothing of another.
//
// The function runs in the goroutine of the caller, but with a context that ends
// with the batch and not with the caller: once it began, the result is what
// happened. Before that a context that ends leaves the batch.
func (d *DB) Batch(ctx context.Context, write func(context.Context, *Tx) error) error {
	inner, err := enter(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	m := &member{
		db: d, ctx: inner, write: write,
		turn: make(chan *Tx), played: make(chan error), result: make(chan error, 1),
	}
	if err := d.batches.join(m); err != nil {
		return err
	}
	return m.follow(ctx)
}

// batcher collects writes. One goroutine commits them: while one batch is flushed
// the next one gathers, so nobody waits for company.
type batcher struct {
	commit func([]*member)

	mu      sync.Mutex
	waiting []*member
	closed  bool
	wake    chan struct{} // of size one: somebody joined, or it is closed
	ended   chan struct{}
}

func startBatcher(commit func([]*member)) *batcher {
	b := &batcher{commit: commit, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go b.run()
	return b
}

func (b *batcher) join(m *member) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return fault.New(fault.Temporary, "the database is closed: promoter is stopping")
	case len(b.waiting) >= maxWaiting:
		return fault.New(fault.Temporary, "%d writes wait for the database already; try again later", maxWaiting)
	}
	b.waiting = append(b.waiting, m)
	b.signal()
	return nil
}

func (b *batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *batcher) run() {
	defer close(b.ended)
	for range b.wake {
		for {
			members, closed := b.take()
			if len(members) == 0 {
				if closed {
					return
				}
				break
			}
			b.commit(members)
		}
	}
}

// take returns those who wait, but for those who left; nobody when nobody waits.
func (b *batcher) take() (members []*member, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) > 0 && len(members) < maxBatch {
		m := b.waiting[0]
		b.waiting = b.waiting[1:]
		if m.taken.CompareAndSwap(false, true) {
			members = append(members, m)
		}
	}
	return members, b.closed
}

// stop serves those who wait and then ends.
func (b *batcher) stop() {
	b.mu.Lock()
	b.closed = true
	b.signal()
	b.mu.Unlock()
	<-b.ended
}
