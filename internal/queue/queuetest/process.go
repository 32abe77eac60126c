package queuetest

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// process is a process that works: its queue, its loop and what it logs.
type process struct {
	*bench
	log    *lines
	cancel func() // tells the loop to stop
	stop   func() // and waits until it has
}

// now is the time of the machine, by which loops work.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

// patience is how long a test waits for what has to happen.
const patience = 2 * time.Minute

// newProcess opens the database with the real clock. A second one by the same
// options is a replica on PostgreSQL, and on SQLite a second queue of one process.
func newProcess(t *testing.T, db *database.DB) *process {
	t.Helper()
	q, err := queue.New(t.Context(), db, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return &process{bench: &bench{T: t, db: db, Queue: q}, log: &lines{}}
}

// pair is two of them.
func pair(t *testing.T, kind databasetest.Kind) (one, other *process) {
	t.Helper()
	o := kind.New(t)
	db := databasetest.Open(t, o)
	one = newProcess(t, db)
	if !db.SingleProcess() {
		db = databasetest.Open(t, o)
	}
	return one, newProcess(t, db)
}

func single(t *testing.T, kind databasetest.Kind) *process {
	t.Helper()
	return newProcess(t, databasetest.Open(t, kind.New(t)))
}

// run works on lanes until the test ends or stops it.
func (p *process) run(concurrent int, o queue.Options, handler queue.Handler) {
	p.Helper()
	o.Kinds = map[string]queue.Worker{"lane": {Handler: handler, Concurrency: concurrent}}
	o.Log = slog.New(slog.NewTextHandler(p.log, nil))
	if o.Random == nil {
		o.Random = func() float64 { return 0 }
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := p.Queue.Run(ctx, o); err != nil {
			p.Error(err)
		}
	})
	p.cancel = cancel
	p.stop = func() {
		cancel()
		ended.Wait()
	}
	p.Cleanup(p.stop)
}

// until waits for something of the channel.
func until[T any](p *process, what string, from <-chan T) (got T) {
	p.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		p.Fatalf("waited in vain for %s\n%s", what, p.log)
	}
	return got
}

// comes waits until a row is as it should be.
func (p *process) comes(key string, want func(queue.Entry) bool) queue.Entry {
	p.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(patience)
	for {
		entry := p.entry(key)
		if want(entry) {
			return entry
		}
		select {
		case <-tick.C:
		case <-over:
			p.Fatalf("the row of %s stayed %+v\n%s", key, entry, p.log)
		}
	}
}

// idle is a row that nobody works on and nothing is due of.
func idle(e queue.Entry) bool { return e.Owner == "" && e.NotBefore.IsZero() }

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line) // of no error
	return len(line), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
