package store

import (
	"context"
	"sync"
	"time"

	"promoter/internal/database"
)

// recentEvents are the events of images that a process has read, so that a reconciliation reads only
// those since the one before: with many repositories, many images have an event between two polls.
type recentEvents struct {
	mu     sync.Mutex
	from   time.Time              // events at or after it are here, up to the newest one
	newest time.Time              // event
	last   map[hostPath]time.Time // event of each image; nil: nothing was read
}

// hostPath names an image as senders do, which may leave out the host.
type hostPath struct{ host, path string }

// LateCommit is how much older than an event of an image another one may be that is committed after
// it: a transaction may take 30 seconds.
const LateCommit = 35 * time.Second

// maxRecent is how many images recentEvents remembers: as many as are stored, while some are deleted.
const maxRecent = 200_000

// read reads the events that were not read yet, so that all at or after a time are here.
func (r *recentEvents) read(ctx context.Context, tx *database.Tx, since time.Time) error {
	for covered := false; !covered; {
		start := r.start(since)
		found := map[hostPath]time.Time{}
		err := tx.Query(ctx, func(scan database.Scan) error {
			var of hostPath
			var at int64
			err := scan(&of.host, &of.path, &at)
			found[of] = database.Time(at)
			return err
		}, "select host, path, event_at from image_event where event_at >= ?", start)
		if err != nil {
			return err
		}
		covered = r.add(found, start, since)
	}
	return nil
}

// start returns from when on to read. If too much is remembered, all is read again.
func (r *recentEvents) start(since time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) > maxRecent {
		r.last, r.newest = nil, time.Time{}
	}
	late := r.newest.Add(-LateCommit)
	switch {
	case r.last == nil || since.Before(r.from):
		return since
	case late.Before(r.from):
		return r.from
	}
	return late
}

// add adds events that were read from a time on, and returns whether all at or after another time are
// here: another goroutine may have begun again.
func (r *recentEvents) add(found map[hostPath]time.Time, start, since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last, r.from = map[hostPath]time.Time{}, start
	}
	if start.Before(r.from) {
		r.from = start
	}
	for of, at := range found {
		if at.After(r.last[of]) {
			r.last[of] = at
		}
		if at.After(r.newest) {
			r.newest = at
		}
	}
	return !since.Before(r.from)
}

// at returns the time of the last event of an image; zero: none is known.
func (r *recentEvents) at(of hostPath) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[of]
}
