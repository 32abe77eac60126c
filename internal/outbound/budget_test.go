package outbound

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/fault"
)

func TestBudget_burstThenRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := clock(t, Options{Budget: Budget{PerSecond: 2, Burst: 3}}), time.Now()
		s := &script{answers: map[string]answers{"a.example": {status(200)}, "b.example": {status(200)}}}
		for range 5 {
			if _, err := ask(c, s, "GET", "a.example", nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("three at once and two at half a second took %v", got)
		}
		before := time.Now()
		if _, err := ask(c, s, "GET", "b.example", nil); err != nil || time.Since(before) != 0 {
			t.Errorf("the other host waited %v, %v", time.Since(before), err)
		}
	})
}

func TestBudget_aLongQueueIsRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(always(Budget{PerSecond: 0.1, Burst: 1, Concurrent: 1}), 5*time.Second, time.Now).of("a.example")
		if err := h.turn(context.Background()); err != nil {
			t.Fatal(err)
		}
		err := h.turn(context.Background())
		if at, ok := fault.RetryAt(err); !ok || time.Until(at) != 10*time.Second {
			t.Errorf("err = %v, retry in %v", err, time.Until(at))
		}
	})
}

func TestBudget_placesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(always(Budget{Concurrent: 1}), time.Second, time.Now).of("a.example")
		if err := h.enter(context.Background()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := h.enter(ctx); !errors.Is(err, context.DeadlineExceeded) || fault.KindOf(err) != fault.Temporary {
			t.Errorf("err = %v", err)
		}
		h.leave()
		if err := h.enter(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestBudget_hostsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := newHosts(always(Budget{}), time.Second, time.Now)
		known.of("blocked.example").refuse(time.Now(), time.Hour, true)
		<-time.After(time.Second)
		for i := range 3 * maxHosts {
			known.of(fmt.Sprintf("%d.example", i))
		}
		if len(known.open) > maxHosts {
			t.Errorf("%d hosts are remembered", len(known.open))
		}
		if _, ok := known.open["blocked.example"]; !ok {
			t.Error("a host in its pause was forgotten")
		}
	})
}

func always(b Budget) func(string) Budget { return func(string) Budget { return b } }

func TestBudget_aHostMayHaveItsOwn(t *testing.T) {
	t.Parallel()
	own := func(host string) Budget {
		if host == "slow.example" {
			return Budget{Concurrent: 1}
		}
		return Budget{}
	}
	known := newHosts(own, time.Second, time.Now)
	if got := cap(known.of("slow.example").places); got != 1 {
		t.Errorf("the host has %d places, want its own", got)
	}
	if got := cap(known.of("other.example").places); got != (Budget{}).withDefaults().Concurrent {
		t.Errorf("another host has %d places, want the default", got)
	}
}
