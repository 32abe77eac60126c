package workspace

import (
	"context"
	"slices"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

// freshness decides for one reconciliation which cached answers of registries are
// valid: those that were requested after the last event that makes them stale.
type freshness struct {
	server *serverfile.Server
	store  *store.Store // nil: answers are valid for the session
	key    identity.RepositoryKey

	mutex sync.Mutex
	known *store.Freshness // nil: not read yet
}

// since returns the time since which answers about an image are valid: that of the last
// poll or schedule, of the last event about the image, or of the last refresh,
// whichever came last.
func (f *freshness) since(ctx context.Context, request engine.VersionRequest) (time.Time, error) {
	if f.store == nil {
		return time.Time{}, nil
	}
	known, err := f.read(ctx)
	if err != nil {
		return time.Time{}, err
	}
	fired, ok := known.Fired[f.server.TagSchedule(request.Component.Poll, request.Repository).String()]
	if !ok { // it has no schedule, or a new one that starts with the last poll
		fired = known.Fired[store.Poll]
	}
	return slices.MaxFunc([]time.Time{fired, known.Event(request.Repository), known.Refreshed}, time.Time.Compare), nil
}

func (f *freshness) read(ctx context.Context) (store.Freshness, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.known != nil {
		return *f.known, nil
	}
	known, err := f.store.Freshness(ctx, string(f.key))
	if err == nil {
		f.known = &known
	}
	return known, err
}

// refresh makes all answers about the images of the repository stale, also for the rest
// of this reconciliation.
func (f *freshness) refresh(ctx context.Context) error {
	if f.store == nil {
		return nil
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.known = nil
	return f.store.RequestRefresh(ctx, string(f.key))
}
