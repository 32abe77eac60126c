package reconcile_test

import (
	"fmt"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/repo"
)

// TestReconcile_survivesACrashAtEveryStep kills a run at every effect, once before it
// and once after it, so that its response is lost. Later runs reach the same result.
func TestReconcile_survivesACrashAtEveryStep(t *testing.T) {
	t.Parallel()
	atEveryStep(t, 8, func(t *testing.T, step int, before bool) bool {
		t.Helper()
		w := newWorld(t, threeEnvironments)
		w.push(web, "1.1.0")
		reached := w.killedAt(step, before)
		w.wholeWayFromHere()
		return reached
	})
}

// atEveryStep plays a story before and after each of its effects, of which there are at
// least some. The story reports whether it has that many.
func atEveryStep(t *testing.T, least int, play func(t *testing.T, step int, before bool) bool) {
	t.Helper()
	for step, reached := 0, true; reached; step++ {
		reached = false
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("step %d, before: %v", step, before), func(t *testing.T) { reached = play(t, step, before) || reached })
		}
		if !reached && step < least {
			t.Errorf("only %d effects were found to break", step)
		}
	}
}

// killedAt promotes one image in a process that is killed at an effect, and reports
// whether it got that far.
func (w *world) killedAt(step int, before bool) bool {
	dead, end := w.dying(step, before)
	defer end()
	_, _ = w.Reconciler().Reconcile(w.t.Context())
	if !dead() && len(w.Forge.All()) == 1 {
		w.mergeByHand(1, "merge")
		_, _ = w.Reconciler().Reconcile(w.t.Context())
	}
	return dead()
}

// dying makes everything fail from an effect on, which happens or does not, until end.
func (w *world) dying(step int, before bool) (dead func() bool, end func()) {
	n, over := 0, false
	effect := func(now bool) error {
		if now == before && !over {
			over = n == step
			n++
		}
		if over {
			return fault.New(fault.Temporary, "killed")
		}
		return nil
	}
	w.Git.Effect = func(now bool, _ []repo.Update) error { return effect(now) }
	w.Forge.Effect = func(now bool, _ string) error { return effect(now) }
	return func() bool { return over }, func() { w.Git.Effect, w.Forge.Effect = nil, nil }
}

// wholeWayFromHere reconciles without failures and checks the result: one branch, one
// pull request and one merge for each environment.
func (w *world) wholeWayFromHere() {
	w.t.Helper()
	w.run()
	if pulls := w.pulls(); len(pulls) == 1 && pulls[0] == "promoter/staging/shop open" {
		w.mergeByHand(1, "merge")
		w.run()
	}
	w.holds("dev", "1.1.0 1.0.0")
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.1.0 1.0.0")
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged")
	if w.Forge.Merges != 2 {
		w.t.Errorf("%d merges", w.Forge.Merges)
	}
	w.calm()
}
