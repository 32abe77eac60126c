package registry

import (
	"context"
	"errors"
	"sync"
	"time"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
)

// Batch shares responses among views: each request whose answer can
// change is sent once for all views with the same credential, until it is forgotten. The service has one until its
// next refresh, a command one until it ends. It is safe for many goroutines.
type Batch struct {
	client  *Client
	tags    flights[listing]
	digests flights[string]
	facts   flights[metadata]
	// signatures are those that were asked for. What is signed is kept in the cache.
	signatures flights[image.Signature]
}

// For returns the view of one GitOps repository.
func (b *Batch) For(repository identity.RepositoryKey) *View {
	return &View{batch: b, key: repository}
}

// Forget drops the responses about image repositories that changed, and every error: a
// host that was down may be up. Metadata of digests stays, because it cannot change.
func (b *Batch) Forget(changed func(image.Repository) bool) {
	b.tags.forget(changed)
	b.digests.forget(changed)
	b.facts.forget(nil)
	b.signatures.forget(func(image.Repository) bool { return true }) // an unsigned image may be signed by now
}

// flights sends each request once and gives all callers its result, also those that
// come later. An error is a result too: a host that is down is not called again in the
// same batch.
type flights[V any] struct {
	mu     sync.Mutex
	calls  map[flightKey]*flight[V]
	failed map[flightKey]*flight[V] // of calls, those that ended with an error
}

// flightKey names a request: the scope, and a tag, digest or "" for the tag list.
type flightKey struct {
	scope
	of string
}

type flight[V any] struct {
	done  chan struct{}
	asOf  time.Time // what it is kept for, see Request.AsOf
	value V
	err   error
}

// errAbandoned marks a request that ended because its caller went away, or was over its
// budget. The other callers send it again.
var errAbandoned = errors.New("abandoned")

// do returns the result of an earlier request that was for the time since or a later one,
// or sends it for asOf. Another earlier request continues for its callers.
func (f *flights[V]) do(ctx context.Context, key flightKey, since, asOf time.Time, send func() (V, error)) (V, error) {
	for {
		f.mu.Lock()
		known, ok := f.calls[key]
		if !ok || known.asOf.Before(since) {
			break
		}
		f.mu.Unlock()
		select {
		case <-known.done:
		case <-ctx.Done():
			var none V
			return none, fault.Wrap(fault.Temporary, ctx.Err())
		}
		if !errors.Is(known.err, errAbandoned) {
			return known.value, known.err
		}
	}
	if f.calls == nil {
		f.calls, f.failed = map[flightKey]*flight[V]{}, map[flightKey]*flight[V]{}
	}
	made := &flight[V]{done: make(chan struct{}), asOf: asOf}
	f.calls[key] = made
	f.mu.Unlock()

	made.value, made.err = send()
	over := errors.Is(made.err, budget.ErrExceeded)
	if made.err == nil || ctx.Err() == nil && !over {
		if made.err != nil {
			f.mu.Lock()
			f.failed[key] = made
			f.mu.Unlock()
		}
		close(made.done)
		return made.value, made.err
	}
	failed := made.err
	if !over {
		failed = fault.Wrap(fault.Temporary, ctx.Err())
	}
	made.err = errors.Join(errAbandoned, made.err)
	f.mu.Lock()
	if f.calls[key] == made { // it may have been forgotten and sent again
		delete(f.calls, key)
	}
	f.mu.Unlock()
	close(made.done)
	return made.value, failed
}

// forget drops results about image repositories, of which nil are none, and errors. A request in flight that
// may have been answered before the change continues for its callers, and is sent
// again for the next one.
func (f *flights[V]) forget(changed func(image.Repository) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, failed := range f.failed {
		if f.calls[key] == failed { // it may have been sent again
			delete(f.calls, key)
		}
	}
	clear(f.failed)
	if changed == nil {
		return
	}
	for key := range f.calls {
		if changed(key.repository) {
			delete(f.calls, key)
		}
	}
}
