package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// ImageEvents are the images that webhooks reported.
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
	if rows = slices.Compact(rows); len(rows) == 0 {
		return nil
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("record image events: %w", err)
	}
	_, err = tx.Exec(ctx, `
insert into image_event (host, path, event_at)
select value->>'host', value->>'path', @now from @elements(?) where true
on conflict (host, path) do update set event_at = excluded.event_at`, string(text))
	return err
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
func (e ImageEvents) Since(ctx context.Context, since time.Time) (all []ImageEvent, err error) {
	err = e.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var one ImageEvent
			var at int64
			if err := scan(&one.Image.Host, &one.Image.Path, &at); err != nil {
				return err
			}
			one.At = database.Time(at)
			all = append(all, one)
			return nil
		}, "select host, path, event_at from image_event where event_at >= ? order by event_at", since)
	})
	return all, err
}

const deleteImageEvents = `
delete from image_event where (host, path) in (
	select host, path from image_event where event_at < ? order by event_at limit ?
)`

// Trim deletes the oldest image events beyond a number, and returns how many.
// Cached answers about those images are used until the next poll.
func (e ImageEvents) Trim(ctx context.Context, limit int) (deleted int64, err error) {
	var newest int64
	err = e.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.One(ctx, []any{&newest},
			"select coalesce(max(event_at), 0) from (select event_at from image_event order by event_at desc limit 1 offset ?) as beyond", limit)
	})
	if err != nil || newest == 0 {
		return 0, err
	}
	return deleteInBatches(ctx, e.db, deleteImageEvents, database.Time(newest).Add(time.Microsecond))
}
