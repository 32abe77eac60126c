package store_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/store"
)

// The first event of a comment counts, for its repository, until it is deleted.
func TestCommentEvents(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		record := func(events ...store.CommentEvent) {
			b.write(func(ctx context.Context, tx *database.Tx) error { return b.CommentEvents.Record(ctx, tx, events) })
		}
		check := func(key string, want map[int64]string, ids ...int64) {
			b.Helper()
			got, err := b.CommentEvents.Digests(b.Context(), key, ids)
			if err != nil || !maps.Equal(got, want) {
				b.Errorf("%s %v: %v, %v; want %v", key, ids, got, err, want)
			}
		}
		record()
		record(store.CommentEvent{Repository: "b", Comment: 1 << 40, Digest: "one"}, store.CommentEvent{Repository: "a", Comment: 1, Digest: "two"},
			store.CommentEvent{Repository: "a", Comment: 1, Digest: "later"})
		record(store.CommentEvent{Repository: "a", Comment: 1, Digest: "edited"})
		check("a", map[int64]string{1: "two"}, 1, 2, 1<<40)
		check("b", map[int64]string{1 << 40: "one"}, 1, 1<<40)
		check("a", map[int64]string{})
		if n, err := b.CommentEvents.DeleteBefore(b.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
			b.Errorf("deleted %d, %v", n, err)
		}
		if n, err := b.CommentEvents.DeleteBefore(b.Context(), time.Now().Add(time.Hour)); n != 2 || err != nil {
			b.Errorf("deleted %d, %v", n, err)
		}
		check("a", map[int64]string{}, 1)
	})
}
