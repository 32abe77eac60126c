package store

import (
	"context"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// Hinted remembers that an image may have changed: what was read of it before that
// counts no more, on whichever replica.
func (s *Store) Hinted(ctx context.Context, tx *database.Tx, said event.Image) error {
	host, path := said.Host, said.Path
	if known := said.Repository(); !known.IsZero() {
		host, path = known.Host(), known.Path()
	}
	_, err := tx.Exec(ctx, `
insert into image_hint (host, path, hinted_at) values (?, ?, @now)
on conflict (host, path) do update set hinted_at = excluded.hinted_at`, host, path)
	return err
}

// HintedImage is an image that may have changed.
type HintedImage struct {
	Image event.Image
	At    time.Time // of the newest hint
}

// HintedSince lists the images that were hinted at since a time, that included.
func (s *Store) HintedSince(ctx context.Context, since time.Time) (all []HintedImage, err error) {
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var one HintedImage
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
