package budget_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"promoter/internal/budget"
	"promoter/internal/fault"
)

// pass lets the time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }

func TestSpend_namesTheLargestConsumers(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Parsed: {Total: 100}, budget.Requests: {Total: 1000, Each: 10}}))
	for i, file := range []string{"a.yaml", "b.yaml", "c.yaml", "d.yaml"} {
		if err := budget.Spend(ctx, budget.Parsed, file, int64(10*(i+1))); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	err := budget.Spend(ctx, budget.Parsed, "a.yaml", 25)
	want := "the reconciliation is over its budget: more than 100 bytes of parsed files; most: d.yaml (40), a.yaml (35), c.yaml (30)"
	if err == nil || err.Error() != want || fault.KindOf(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
	if err := budget.Spend(ctx, budget.Requests, "a.example", 10); err != nil {
		t.Error(err)
	}
	if err := budget.Spend(ctx, budget.Requests, "b.example", 11); err == nil || !strings.HasSuffix(err.Error(), "more than 10 requests to registries for b.example") {
		t.Errorf("%v", err)
	}
}

func TestSpend_withoutABudgetLimitsNothing(t *testing.T) {
	t.Parallel()
	if err := budget.Spend(t.Context(), budget.Parsed, "file", 1<<60); err != nil {
		t.Error(err)
	}
	budget.Wait(t.Context())()
}

// The consumers come from repositories, so their number is limited too, and the largest
// are still named.
func TestSpend_remembersABoundedNumberOfConsumers(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.New(budget.Limits{budget.Parsed: {Total: 1_100_000}}))
	var err error
	for i := 0; err == nil; i++ {
		n := int64(1)
		if i == 5 {
			n = 1_000_000
		}
		err = budget.Spend(ctx, budget.Parsed, fmt.Sprintf("f%d", i), n)
	}
	if !strings.Contains(err.Error(), "most: f5 (1000000)") {
		t.Error(err)
	}
}

func TestWithTimeout_endsTheContextWithTheSlowestHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := budget.WithTimeout(t.Context(), budget.New(nil), time.Minute)
		defer stop()
		_ = budget.Spend(ctx, budget.Elapsed, "slow.example", 50_000)
		pass(59 * time.Second)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("it ended early")
		}
		pass(2 * time.Second)
		err := budget.Cause(ctx, fmt.Errorf("read the tags: %w", ctx.Err()))
		want := "the reconciliation is over its budget of time: it took longer than 1m0s; milliseconds of waiting for hosts: slow.example (50000); the next one continues"
		if err == nil || err.Error() != want || fault.KindOf(err) != fault.Temporary {
			t.Errorf("%v", err)
		}
		if err := budget.Cause(ctx, nil); err != nil {
			t.Errorf("work that succeeded failed with %v", err)
		}
	})
}

// Waiting for a rate limit does not count, also where several requests wait at the same
// time, but not without an end.
func TestWait_stopsTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := budget.WithTimeout(t.Context(), budget.New(nil), time.Minute)
		defer stop()
		begin := time.Now()
		pass(30 * time.Second)
		first := budget.Wait(ctx)
		pass(50 * time.Second)
		second := budget.Wait(ctx)
		first()
		pass(50 * time.Second)
		second()
		pass(29 * time.Second)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatalf("it ended after %s", time.Since(begin))
		}
		end := budget.Wait(ctx)
		defer end()
		<-ctx.Done()
		if took := time.Since(begin); took != 4*time.Minute { // a minute, and three of pauses
			t.Errorf("it ended after %s", took)
		}
	})
}

func TestWithTimeout_keepsTheCauseOfItsParent(t *testing.T) {
	t.Parallel()
	stopping := errors.New("stopping")
	parent, cancel := context.WithCancelCause(t.Context())
	ctx, stop := budget.WithTimeout(parent, budget.New(nil), time.Hour)
	defer stop()
	cancel(stopping)
	<-ctx.Done()
	if err := budget.Cause(ctx, ctx.Err()); !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(ctx), stopping) {
		t.Errorf("%v, caused by %v", err, context.Cause(ctx))
	}
}
