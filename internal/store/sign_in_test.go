package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSignIns_countOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		s, t := b.Store, b.T
		now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
		use := func(id string, at time.Time) bool {
			t.Helper()
			first, err := s.SignIns.Use(t.Context(), id, at, at.Add(10*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			return first
		}
		if !use("a", now) || use("a", now) || !use("b", now) {
			t.Error("a sign-in counts twice, or another one does not count")
		}
		for _, later := range []time.Duration{10 * time.Minute, 11 * time.Minute} {
			if use("a", now.Add(later)) {
				t.Errorf("after %v, a sign-in is forgotten that a slow request, or a replica with another clock, may complete", later)
			}
		}
		if !use("a", now.Add(time.Hour)) {
			t.Error("an expired sign-in is kept")
		}
	})
}

// Replicas that complete one sign-in at the same time: one of them does.
func TestSignIns_countOnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		s, t := b.Store, b.T
		now := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
		for round := range 5 {
			var group sync.WaitGroup
			var first atomic.Int64
			for range 8 {
				group.Go(func() {
					if ok, err := s.SignIns.Use(t.Context(), fmt.Sprint(round), now, now.Add(time.Minute)); err != nil {
						t.Error(err)
					} else if ok {
						first.Add(1)
					}
				})
			}
			group.Wait()
			if first.Load() != 1 {
				t.Errorf("it counts %d times", first.Load())
			}
		}
	})
}
