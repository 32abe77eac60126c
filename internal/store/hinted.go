package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// RecordImageEvent remembers that an image may have changed: what was read of it before that
// counts no more, on whichever replica.
func (s *Store) RecordImageEvent(tx *database.Tx, said event.Image) {
	host, path := said.Host, said.Path
	if known := said.Repository(); !known.IsZero() {
		host, path = known.Host(), known.Path()
	}
	tx.Defer(hintedAt{{host, path}: true})
}

// hintedAt are the images that a transaction is to remember, all with one statement:
// many webhooks of a moment are about one image.
type hintedAt map[hintedImage]bool

type hintedImage struct{ Host, Path string }

// Key implements database.Deferred.
func (h hintedAt) Key() string { return "image hint" }

// Merge implements database.Deferred.
func (h hintedAt) Merge(later database.Deferred) database.Deferred {
	if others, ok := later.(hintedAt); ok {
		maps.Copy(h, others)
	}
	return h
}

// Do implements database.Deferred. The order is that of the images on all servers.
func (h hintedAt) Do(ctx context.Context, tx *database.Tx) error {
	images := slices.SortedFunc(maps.Keys(h), func(a, b hintedImage) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	text, err := json.Marshal(images)
	if err != nil {
		return fmt.Errorf("write the images that were hinted at: %w", err)
	}
	_, err = tx.Exec(ctx, `
insert into image_hint (host, path, hinted_at)
select value->>'Host', value->>'Path', @now from @elements(?) where true
on conflict (host, path) do update set hinted_at = excluded.hinted_at`, string(text))
	return err
}

// ImageEvent is an image that may have changed.
type ImageEvent struct {
	Image event.Image
	At    time.Time // of the newest hint
}

// ImageEventsSince lists the images that were hinted at since a time, that included.
func (s *Store) ImageEventsSince(ctx context.Context, since time.Time) (all []ImageEvent, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var one ImageEvent
			var at int64
			if err := scan(&one.Image.Host, &one.Image.Path, &at); err != nil {
				return err
			}
			one.At = database.Time(at)
			all = append(all, one)
			return nil
		}, "select host, path, hinted_at from image_hint where hinted_at >= ? order by hinted_at", since)
	})
	return all, err
}
