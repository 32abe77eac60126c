package queue

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"promoter/internal/database"
)

// Queue is the work in one database. All methods may be called by many at once.
type Queue struct {
	db     *database.DB
	name   string // of this process among others
	claims atomic.Int64

	mu    sync.Mutex
	loops map[string]loop // by kind
}

// loop is what claims one kind in this process.
type loop struct {
	poll time.Duration
	wake chan struct{} // of size one
}

// New opens the queue of a database. The name is shown as the owner of runs under
// way, a host's for instance. On SQLite the leases of a process before this one end.
func New(ctx context.Context, db *database.DB, name string) (*Queue, error) {
	// Two processes of one name, or one after the other, are told apart.
	q := &Queue{db: db, name: name + "/" + rand.Text()[:8], loops: map[string]loop{}}
	if !db.SingleProcess() {
		return q, nil
	}
	return q, q.update(ctx, "update work set lease_until = @now where owner <> '' and lease_until > @now")
}

func (q *Queue) update(ctx context.Context, written string, args ...any) error {
	return q.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, written, args...)
		return err
	})
}

// owner is the name of one run, and of no other one.
func (q *Queue) owner() string { return fmt.Sprintf("%s/%d", q.name, q.claims.Add(1)) }

// enlist makes a kind's loop known, so that hints of this process wake it at once.
func (q *Queue) enlist(kind string, poll time.Duration) loop {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := loop{poll: poll, wake: make(chan struct{}, 1)}
	q.loops[kind] = known
	return known
}

// soon is how early work must be due for its hint to wake the loop: what is due
// later is found in time by looking.
func (q *Queue) soon(kind string) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.loops[kind].poll
}

func (q *Queue) wake(kind string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.loops[kind].wake <- struct{}{}:
	default: // it is awake, or there is none: nil takes nothing
	}
}
