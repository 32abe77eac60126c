package registry

import (
	"context"
	"errors"
	"sync"
	"time"

	"promoter/internal/fault"
)

// flight asks each question once and gives everybody the answer, also the ones
// who come while it is under way. Failures are answers too: a host that is down
// is not asked again in the same pass.
type flight[V any] struct {
	mu    sync.Mutex
	calls map[string]*call[V]
}

type call[V any] struct {
	done  chan struct{}
	asOf  time.Time // see Request.AsOf
	value V
	err   error
}

// do answers from an earlier question or asks.
func (f *flight[V]) do(ctx context.Context, key string, ask func() (V, error)) (V, error) {
	return f.asOf(ctx, key, time.Time{}, ask)
}

// asOf is do for a moment: a question for an earlier one goes on for those who asked
// it, and is asked again.
func (f *flight[V]) asOf(ctx context.Context, key string, asOf time.Time, ask func() (V, error)) (V, error) {
	for {
		f.mu.Lock()
		known, ok := f.calls[key]
		if !ok || known.asOf.Before(asOf) {
			return f.first(ctx, key, asOf, ask) // unlocks
		}
		f.mu.Unlock()
		select {
		case <-known.done:
		case <-ctx.Done():
			var none V
			return none, fault.Wrap(fault.Temporary, ctx.Err())
		}
		if !abandoned(known.err) {
			return known.value, known.err
		}
	}
}

// first asks. The caller holds the lock, and it is given back here.
func (f *flight[V]) first(ctx context.Context, key string, asOf time.Time, ask func() (V, error)) (V, error) {
	if f.calls == nil {
		f.calls = map[string]*call[V]{}
	}
	made := &call[V]{done: make(chan struct{}), asOf: asOf}
	f.calls[key] = made
	f.mu.Unlock()

	made.value, made.err = ask()
	if ctx.Err() != nil && made.err != nil {
		made.err = errors.Join(errAbandoned, made.err)
		f.mu.Lock()
		if f.calls[key] == made { // else it was forgotten, and asked anew
			delete(f.calls, key)
		}
		f.mu.Unlock()
	}
	close(made.done)
	if abandoned(made.err) {
		return made.value, fault.Wrap(fault.Temporary, ctx.Err())
	}
	return made.value, made.err
}

// errAbandoned marks a question that ended because its asker went away; the
// others ask again.
var errAbandoned = errors.New("abandoned")

func abandoned(err error) bool { return errors.Is(err, errAbandoned) }
