package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

// fresh is a run with an empty mirror.
func (w *world) fresh() outcome.Report {
	w.t.Helper()
	reconciler, _ := w.FreshReconciler()
	report, err := reconciler.Reconcile(w.t.Context())
	if err != nil || report.Failed() {
		w.t.Fatalf("the run failed: %v, %+v, %s", err, report.Errors, report.Unusable)
	}
	return report
}

// A job without a cache has little history. It still leaves an unchanged head alone,
// however old its base is.
func TestReconcile_shallow(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]time.Duration{"a busy repository": time.Hour, "a quiet one": 100 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gated := "land: automerge, gates: {approvals: {count: 1}}}"
			w := newWorld(t, strings.ReplaceAll(strings.ReplaceAll(threeEnvironments, "land: automerge}", gated), "land: push}", gated))
			w.Clock.Add(quiet)
			w.push(web, "1.1.0")
			w.fresh()
			w.wantPulls("promoter/dev/shop open")
			head := w.pull(1).Head.Commit
			for range 3 {
				w.Clock.Add(time.Hour)
				w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "elsewhere", func(all map[string]string) { all["README"] += "x" })
				w.fresh()
			}
			if w.pull(1).Head.Commit != head {
				t.Error("the head was made again")
			}
			w.Forge.Review(1, "ada", scm.Approved)
			w.fresh()
			w.wantPulls("promoter/dev/shop merged", "promoter/staging/shop open")
			w.holds("dev", "1.1.0 1.0.0")
		})
	}
}

// Where an application is absent in between, its soak counts from the merge into the
// environment before.
func TestReconcile_soakBehindAbsentParent(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(threeEnvironments, "land: push}", "land: pr}")
	w := newWorld(t, strings.ReplaceAll(text, "after: [staging]", "after: {staging: {soak: 1h}}"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "no staging", func(all map[string]string) { delete(all, "staging/shop.txt") })
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.Clock.Add(59 * time.Minute)
	wantReason(t, w.run(), "prod", "soak")
	w.Clock.Add(2 * time.Minute)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}
