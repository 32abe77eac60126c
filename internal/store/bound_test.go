package store_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/event"
)

// However much is sent, what is kept has a size. The newest deliveries stay.
func TestBound(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for _, id := range []string{"first", "second", "third"} {
			large := delivery(id)
			large.Body = bytes.Repeat([]byte{0}, 1000)
			b.keep(large)
		}
		if n, err := b.TrimDeliveries(b.Context(), 4000); n != 0 || err != nil {
			t.Errorf("within the bound: removed %d, %v", n, err)
		}
		if n, err := b.TrimDeliveries(b.Context(), 2500); n != 1 || err != nil {
			t.Errorf("beyond it: removed %d, %v", n, err)
		}
		left, err := b.Deliveries(b.Context(), 10)
		if err != nil || len(left) != 2 || left[0].ID != "third" || left[1].ID != "second" {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

// However many images are hinted at, so many are remembered: the newest.
func TestBoundHinted(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		hinted := func(path string) {
			b.write(func(_ context.Context, tx *database.Tx) error {
				b.RecordImageEvent(tx, event.Image{Host: "quay.io", Path: path})
				return nil
			})
		}
		for _, path := range []string{"first", "second", "third"} {
			hinted(path)
		}
		if n, err := b.TrimImageEvents(b.Context(), 3); n != 0 || err != nil {
			t.Errorf("within the bound: removed %d, %v", n, err)
		}
		if n, err := b.TrimImageEvents(b.Context(), 2); n != 1 || err != nil {
			t.Errorf("beyond it: removed %d, %v", n, err)
		}
		left, err := b.ImageEventsSince(b.Context(), time.Time{})
		if err != nil || len(left) != 2 || left[0].Image.Path != "second" || left[1].Image.Path != "third" {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}
