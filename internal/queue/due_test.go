package queue_test

import (
	"math"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/queue"
)

// Work that becomes due while Claim reads is claimed, or its time is returned: otherwise the
// loop would find it only with its next poll.
func TestClaim_workThatBecomesDueMeanwhile(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	var ticks atomic.Int64 // each statement sees a later time
	db, err := database.Open(t.Context(), database.Options{
		Path: filepath.Join(t.TempDir(), "promoter.db"),
		Now:  func() time.Time { return begin.Add(time.Duration(ticks.Add(1)) * time.Millisecond) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	q, err := queue.New(t.Context(), db, "one")
	if err != nil {
		t.Fatal(err)
	}
	for delay := range 30 {
		if err := q.Trigger(t.Context(), queue.Trigger{Kind: "work", Key: "a", Debounce: time.Duration(delay) * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		for {
			claimed, err := q.Claim(t.Context(), queue.ClaimOptions{Kind: "work", Limit: 1, Lease: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			if len(claimed.Items) == 1 {
				if err := q.Done(t.Context(), claimed.Items[0], queue.Result{}); err != nil {
					t.Fatal(err)
				}
				break
			}
			if claimed.Wait == math.MaxInt64 {
				t.Fatalf("due after %d ms: neither claimed nor waited for", delay)
			}
		}
	}
}
