package reconcile_test

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
		t.Run(fmt.Sprintf("newer: %v", newer), func(t *testing.T) {
			atEveryStep(t, 1, func(t *testing.T, step int, before bool) bool {
				t.Helper()
				w := staged(t, threeEnvironments)
				w.push(web, "1.2.0")
				reached, want := w.dead(step, before), "1.2.0"
				if newer {
					want = "1.3.0"
					w.push(web, want)
				}
				w.run()
				if title := w.pull(1).Title; !strings.HasSuffix(title, "web "+want) {
					t.Errorf("the title is %q", title)
				}
				w.calm()
				return reached
			})
		})
	}
}

// The title of a user stays, also after a crash.
func TestReconcile_keepsAUsersTitle(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
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
