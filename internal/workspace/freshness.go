package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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

// movedWithin is how often the digest of a tag is requested again that was selected from a
// list which does not change.
const movedWithin = time.Hour

// since returns the time since which answers about an image are valid: that of the last
// poll or schedule, of the last event about the image, or of the last refresh,
// whichever came last. For the digests of listed tags, it is the last turn of the image
// instead of the last poll or schedule.
func (f *freshness) since(ctx context.Context, request engine.VersionRequest) (asOf, moved time.Time, err error) {
	if f.store == nil {
		return time.Time{}, time.Time{}, nil
	}
	known, err := f.read(ctx)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	fired, ok := known.Fired[f.server.TagSchedule(request.Component.Poll, request.Repository).String()]
	if !ok { // it has no schedule, or a new one that starts with the last poll
		fired = known.Fired[store.Poll]
	}
	event := known.Event(request.Repository)
	asOf = slices.MaxFunc([]time.Time{fired, event, known.Refreshed}, time.Time.Compare)
	turn := lastTurn(request.Repository.String(), asOf)
	return asOf, slices.MaxFunc([]time.Time{turn, event, known.Refreshed}, time.Time.Compare), nil
}

// lastTurn returns the last turn of an image at or before a time. An image has one turn in
// movedWithin, always at the same time of it, and those of many images are spread evenly.
func lastTurn(image string, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	sum := sha256.Sum256([]byte(image))
	phase := time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(movedWithin))
	return at.Add(-phase).Truncate(movedWithin).Add(phase)
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
