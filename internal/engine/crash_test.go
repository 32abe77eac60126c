package engine_test

import (
	"fmt"
	"testing"

	"promoter/internal/engine"
	"promoter/internal/fault"
)

// TestReconcile_survivesACrashAtEveryStep breaks a run at every effect, once before it happens
// and once after, so that its answer is lost; from there on nothing works any more,
// as in a process that was killed. The next runs come to the same end.
func TestReconcile_survivesACrashAtEveryStep(t *testing.T) {
	t.Parallel()
	steps := 0
	for step := 0; ; step++ {
		reached := false
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("step %d, before: %v", step, before), func(t *testing.T) {
				w := newWorld(t, threeEnvironments)
				w.push(web, "1.1.0")
				reached = w.killedAt(step, before) || reached
				w.wholeWayFromHere()
			})
		}
		if !reached {
			break
		}
		steps++
	}
	if steps < 8 {
		t.Errorf("only %d effects were found to break", steps)
	}
}

// killedAt runs the whole way of one image in a process that dies at an effect,
// and says whether it got that far.
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

// dying lets nothing work any more from an effect on, which happens or does not; until
// the end.
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
	w.Git.Effect = func(now bool, _ []engine.Update) error { return effect(now) }
	w.Forge.Effect = func(now bool, _ string) error { return effect(now) }
	return func() bool { return over }, func() { w.Git.Effect, w.Forge.Effect = nil, nil }
}

// wholeWayFromHere runs on undisturbed and checks the end: one branch, one pull
// request and one merge for each environment.
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
