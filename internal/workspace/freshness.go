package workspace

import (
	"context"
	"slices"
	"sync"
	"time"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/reconcile/observe"
	"promoter/internal/schedule"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

// freshness decides for one reconciliation which cached answers of registries are
// valid: those that were requested after the last event that makes them stale.
type freshness struct {
	server *serverfile.Server
	store  *store.Store // nil: answers are valid for the session, but see kept
	key    identity.RepositoryKey

	// kept is the time with which answers are kept without a store: the start of the session. Zero: it keeps none.
	kept time.Time

	mutex     sync.Mutex
	refreshed time.Time        // last, without a store
	known     *store.Freshness // nil: not read yet
}

// validity is since when answers about an image are valid, see registry.Request.
type validity struct{ asOf, moved, kept time.Time }

// movedWithin is how often the digest of a tag is requested again that was selected from a
// list which does not change.
const movedWithin = time.Hour

// since returns the time since which answers about an image are valid: that of its last
// turn or schedule, of the last event about the image, of the last refresh, or of the last
// start of a process, whichever came last. For the digests of listed tags, it is the last
// turn of the image in movedWithin instead of the one in the poll. Without a store, answers are
// valid for the session, and these digests as long as with one if the session keeps a cache.
func (f *freshness) since(ctx context.Context, request observe.VersionRequest) (validity, error) {
	name := request.Repository.String()
	if f.store == nil {
		return f.sinceWithout(name), nil
	}
	known, err := f.read(ctx)
	if err != nil {
		return validity{}, err
	}
	fired, ok := known.Fired[f.server.TagSchedule(request.Component.Poll, request.Repository).String()]
	switch {
	case ok:
	case known.Shares(request.Component.Pattern):
		fired = schedule.LastTurn(name, f.server.File.Poll, known.Now)
	default: // it has no schedule, or a new one that starts with the last poll
		fired = schedule.TurnsOf(string(f.key), known.Images, f.server.File.Poll).Last(name, known.Now)
	}
	if started := known.Fired[store.Start]; !ok && started.After(fired) {
		fired = started
	}
	event := known.Event(request.Repository)
	asOf := slices.MaxFunc([]time.Time{fired, event, known.Refreshed}, time.Time.Compare)
	moved := slices.MaxFunc([]time.Time{schedule.LastTurn(name, movedWithin, asOf), event, known.Refreshed}, time.Time.Compare)
	return validity{asOf: asOf, moved: moved}, nil
}

// sinceWithout is since without a store.
func (f *freshness) sinceWithout(name string) validity {
	if f.kept.IsZero() {
		return validity{}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	moved := slices.MaxFunc([]time.Time{schedule.LastTurn(name, movedWithin, f.kept), f.refreshed}, time.Time.Compare)
	return validity{moved: moved, kept: f.kept}
}

func (f *freshness) read(ctx context.Context) (store.Freshness, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.known != nil {
		return *f.known, nil
	}
	known, err := f.store.Freshness(ctx, string(f.key), max(f.server.File.Poll, movedWithin))
	if err == nil {
		f.known = &known
	}
	return known, err
}

// staleAt returns a function that reports whether answers about an image that were valid at one
// time are stale at a later one: there was an event about it, or its turn. It is called for each
// image of a repository.
func (f *freshness) staleAt(now, then store.Freshness) func(image.Repository) bool {
	poll := f.server.File.Poll
	own := schedule.TurnsOf(string(f.key), now.Images, poll)
	ownPassed := own.Passed(then.Now, now.Now)
	return func(r image.Repository) bool {
		if now.Event(r).After(then.Now.Add(-store.LateCommit)) { // it may have been read before too
			return true
		}
		name := r.String()
		return schedule.LastTurn(name, poll, now.Now).After(then.Now) || ownPassed && own.Last(name, now.Now).After(then.Now)
	}
}

// last returns what was read; false: nothing was, or it is stale.
func (f *freshness) last() (store.Freshness, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.known == nil {
		return store.Freshness{}, false
	}
	return *f.known, true
}

// refresh makes all answers about the images of the repository stale, also for the rest
// of this reconciliation.
func (f *freshness) refresh(ctx context.Context) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.store == nil {
		f.refreshed = f.server.Now()
		return nil
	}
	f.known = nil
	return f.store.RequestRefresh(ctx, string(f.key))
}
