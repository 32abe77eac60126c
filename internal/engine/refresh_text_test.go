package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestReconcile_refreshesTitleAfterACrash kills a run that refreshes a pull request at
// every effect. Even if a newer version comes before the next run, the title is that of
// the proposal.
func TestReconcile_refreshesTitleAfterACrash(t *testing.T) {
	t.Parallel()
	for _, newer := range []bool{false, true} {
		reached := true
		for step := 0; reached; step++ {
			reached = false
			for _, before := range []bool{true, false} {
				t.Run(fmt.Sprintf("step %d, before: %v, newer: %v", step, before, newer), func(t *testing.T) {
					w := newWorld(t, threeEnvironments)
					w.push(web, "1.1.0")
					w.run()
					w.push(web, "1.2.0")
					reached = w.dead(step, before) || reached
					want := "1.2.0"
					if newer {
						want = "1.3.0"
						w.push(web, want)
					}
					w.run()
					if title := w.pull(1).Title; !strings.HasSuffix(title, "web "+want) {
						t.Errorf("the title is %q", title)
					}
					w.calm()
				})
			}
		}
	}
}

// The title of a user stays, also after a crash.
func TestReconcile_keepsAUsersTitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	w.run()
	w.Forge.Rewrite(1, "Mine", w.pull(1).Body)
	w.push(web, "1.2.0")
	for step := range 6 {
		w.dead(step, false)
		w.run()
		w.push(web, fmt.Sprintf("1.%d.0", 3+step))
	}
	w.run()
	if title := w.pull(1).Title; title != "Mine" {
		t.Errorf("the title is %q", title)
	}
}

// dead reconciles in a process that is killed at an effect, and reports whether it got
// that far.
func (w *world) dead(step int, before bool) bool {
	dead, end := w.dying(step, before)
	defer end()
	_, _ = w.Reconciler().Reconcile(w.t.Context())
	return dead()
}
