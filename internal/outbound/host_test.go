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

func TestRateLimit_burstThenRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, start := clock(t, Options{RateLimit: RateLimit{PerSecond: 2, Burst: 3}}), time.Now()
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

func TestRateLimit_longWaitIsAFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(always(RateLimit{PerSecond: 0.1, Burst: 1, Concurrent: 1}), 5*time.Second, time.Now).of("a.example")
		if err := h.wait(context.Background()); err != nil {
			t.Fatal(err)
		}
		err := h.wait(context.Background())
		if at, ok := fault.RetryAt(err); !ok || time.Until(at) != 10*time.Second {
			t.Errorf("err = %v, retry in %v", err, time.Until(at))
		}
	})
}

func TestRateLimit_boundsConcurrentRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(always(RateLimit{Concurrent: 1}), time.Second, time.Now).of("a.example")
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

func TestHosts_dropsQuietHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := newHosts(always(RateLimit{}), time.Second, time.Now)
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

func always(b RateLimit) func(string) RateLimit { return func(string) RateLimit { return b } }

func TestRateLimit_perHost(t *testing.T) {
	t.Parallel()
	own := func(host string) RateLimit {
		if host == "slow.example" {
			return RateLimit{Concurrent: 1}
		}
		return RateLimit{}
	}
	known := newHosts(own, time.Second, time.Now)
	if got := cap(known.of("slow.example").slots); got != 1 {
		t.Errorf("the host has %d places, want its own", got)
	}
	if got := cap(known.of("other.example").slots); got != (RateLimit{}).withDefaults().Concurrent {
		t.Errorf("another host has %d places, want the default", got)
	}
}
