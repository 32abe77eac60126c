package rendered

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// An owner that renders for long waits behind others, which have used less.
func TestSlots_theOwnerThatUsedTheLeastIsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, time.Now)
		release, err := s.acquire(t.Context(), "large")
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 10)
		render := func(owner string, used time.Duration) {
			release, err := s.acquire(t.Context(), owner)
			if err != nil {
				t.Error(err)
				return
			}
			order <- owner
			release(used)
		}
		for range 3 {
			go render("large", 20*time.Second)
			synctest.Wait()
		}
		go render("small", time.Second)
		synctest.Wait()
		go render("other", 2*time.Second)
		synctest.Wait()
		release(20 * time.Second)
		synctest.Wait()
		close(order)
		var got []string
		for owner := range order {
			got = append(got, owner)
		}
		want := []string{"small", "other", "large", "large", "large"}
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

// An owner that used much is served in the end, also while owners that used nothing come all the time.
func TestSlots_noOwnerWaitsForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, time.Now)
		s.charge("large", time.Hour)
		release, err := s.acquire(t.Context(), "0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan time.Time, 1)
		begin := time.Now()
		go func() {
			release, err := s.acquire(t.Context(), "large")
			if err != nil {
				t.Error(err)
				return
			}
			served <- time.Now()
			release(time.Second)
		}()
		synctest.Wait()
		for i := range 100 { // each comes while the one before renders for 10 seconds
			next := make(chan func(time.Duration))
			go func() {
				release, err := s.acquire(t.Context(), string(rune('a'+i)))
				if err != nil {
					t.Error(err)
				}
				next <- release
			}()
			synctest.Wait()
			<-time.After(10 * time.Second)
			release(10 * time.Second)
			release = <-next
		}
		release(0)
		if waited := (<-served).Sub(begin); waited < maxBehind || waited > maxBehind+20*time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
}

// What runs counts, so that an owner that used nothing does not take all slots at once.
func TestSlots_whatRunsCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, time.Now)
		var running []func(time.Duration)
		for range 2 {
			release, err := s.acquire(t.Context(), "large")
			if err != nil {
				t.Fatal(err)
			}
			running = append(running, release)
		}
		order := make(chan string, 3)
		for _, owner := range []string{"one", "one", "other"} {
			go func() {
				if _, err := s.acquire(t.Context(), owner); err == nil {
					order <- owner
				}
			}()
			synctest.Wait()
		}
		running[0](0)
		synctest.Wait()
		running[1](0)
		synctest.Wait()
		if first, second := <-order, <-order; first != "one" || second != "other" {
			t.Errorf("%s, and then %s", first, second)
		}
		s.mu.Lock()
		s.free = 1
		s.next() // ends the last goroutine
		s.mu.Unlock()
		synctest.Wait()
	})
}

func TestSlots_usedTimeIsForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	s := newSlots(1, func() time.Time { return now })
	s.charge("large", 16*time.Second)
	now = now.Add(2*forgetAfter + time.Minute)
	s.charge("small", time.Second)
	if s.used["large"] != 4*time.Second || s.used["small"] != time.Second {
		t.Errorf("%v", s.used)
	}
	now = now.Add(5 * forgetAfter)
	s.charge("other", time.Second)
	if len(s.used) != 1 {
		t.Errorf("%v", s.used)
	}
}

func TestSlots_whatWaitsNoMoreTakesNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, time.Now)
		release, err := s.acquire(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := s.acquire(ctx, "other")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		release(0)
		if len(s.waiting) != 0 || s.free != 1 {
			t.Errorf("%d wait, %d are free", len(s.waiting), s.free)
		}
	})
}
