package store

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// ImageEvents are the images that webhooks reported, or about which a registry answered differently than before.
type ImageEvents struct{ db *database.DB }

// Record records that images may have changed: what any replica has cached of
// them before is not used any more. It is one statement.
func (e ImageEvents) Record(ctx context.Context, tx *database.Tx, images []event.Image) error {
	type row struct {
		Host string `json:"host"`
		Path string `json:"path"`
	}
	rows := make([]row, 0, len(images))
	for _, named := range images {
		host, path := normalized(named)
		rows = append(rows, row{host, path})
	}
	// Transactions that lock the same rows do so in the same order, and cannot deadlock.
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path)) })
	return execEach(ctx, tx, slices.Compact(rows), `
insert into image_event (host, path, event_at)
select value->>'host', value->>'path', @now from @elements(?) where true
on conflict (host, path) do update set event_at = excluded.event_at`)
}

// normalized returns host and path of an image in the form of package image, if it is
// complete.
func normalized(named event.Image) (host, path string) {
	if known := named.Repository(); !known.IsZero() {
		return known.Host(), known.Path()
	}
	return named.Host, named.Path
}

// ImageEvent is an image that may have changed.
type ImageEvent struct {
	Image event.Image
	At    time.Time // of the latest event
}

// Since lists the images with an event at or after a time.
func (e ImageEvents) Since(ctx context.Context, since time.Time) ([]ImageEvent, error) {
	return viewRows(ctx, e.db, func(scan database.Scan, one *ImageEvent) error {
		return scan(&one.Image.Host, &one.Image.Path, &one.At)
	}, "select host, path, event_at from image_event where event_at >= ? order by event_at", since)
}

// agedImageEvents are the last events of images by when they happened.
var agedImageEvents = aged{"image_event", "host, path", "event_at"}

// Trim deletes the oldest image events beyond a number, and returns how many.
// Cached answers about those images are used until the next poll.
func (e ImageEvents) Trim(ctx context.Context, limit int64) (deleted int64, err error) {
	return agedImageEvents.deleteMany(ctx, e.db, limit)
}

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
			var at time.Time
			err := scan(&of.host, &of.path, &at)
			found[of] = at
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
