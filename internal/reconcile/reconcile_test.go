package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// A squashed commit has the trailers of its head, or what the forge made of them.
func TestReconcile_mergedByHand(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"squash", "bare squash"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [staging]", "after: {staging: {soak: 1h}}"))
			w.Forge.Bare = method == "bare squash"
			w.pushAndRun(web, "1.1.0")
			if err := w.Forge.MergeByHand(1, strings.TrimPrefix(method, "bare ")); err != nil {
				t.Fatal(err)
			}
			report := w.run()
			wantReason(t, report, "prod", "soak")
			w.calm()
			w.Clock.Add(61 * time.Minute)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

func TestReconcile_lostResponses(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"create", "merge", "status", "edit"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.push(web, "1.1.0")
			once := true
			w.Forge.Effect = func(before bool, what string) error {
				if !before && what == lost && once {
					once = false
					return fault.New(fault.Temporary, "the connection broke")
				}
				return nil
			}
			for range 3 {
				_, _ = w.Reconciler().Reconcile(t.Context())
			}
			if len(w.Forge.All()) == 1 && w.pull(1).State == scm.StateOpen {
				w.mergeByHand(1, "merge")
			}
			for range 3 {
				_, _ = w.Reconciler().Reconcile(t.Context())
			}
			w.holds("prod", "1.1.0 1.0.0")
			w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged")
			w.calm()
		})
	}
}

// A pull request that is open without its labels was opened: it is in the history at once, and is not opened again.
func TestReconcile_openedWithoutItsLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(threeEnvironments, "after: [dev]", "after: [dev], pullRequest: {labels: [promotion]}", 1))
	w.push(web, "1.1.0")
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "label" {
			return fault.New(fault.Unauthorized, "no label for you")
		}
		return nil
	}
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(report.Effects, func(e outcome.Effect) bool { return e.Action == outcome.ActionOpened })
	if i < 0 || report.Effects[i].Number != 1 || fault.KindOf(report.Effects[i].Err) != fault.Unauthorized {
		t.Errorf("effects %+v, want the opened pull request, with the error about its labels", report.Effects)
	}
	w.run()
	w.wantPulls("promoter/staging/shop open")
}

func TestReconcile_rateLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "create" {
			return fault.Limited(w.Clock.Now().Add(time.Hour), errLimited)
		}
		return nil
	}
	_, err := w.Reconciler().Reconcile(t.Context())
	if at, limited := fault.RetryAt(err); !limited || at.IsZero() {
		t.Errorf("error: %v", err)
	}
	w.Forge.Effect = nil
	w.run()
	w.wantPulls("promoter/staging/shop open")
}

var errLimited = fault.New(fault.RateLimited, "slow down")

func TestReconcile_dryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	before := w.Git.Branches()
	reconciler := w.Reconciler()
	report, err := reconciler.Rehearse(t.Context())
	if err != nil || w.Git.Pushes != 0 || len(w.Forge.All()) != 0 || len(before) != len(w.Git.Branches()) {
		t.Errorf("a dry run wrote: %v", err)
	}
	if len(report.Effects) == 0 || report.Effects[0].Step != propose.StepPush {
		t.Errorf("it shows %+v", report.Effects)
	}
}

func TestReconcile_idle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.run()
	w.Git.Listings, w.Git.Pushes = 0, 0
	clear(w.Forge.Calls)
	w.run()
	if w.Git.Listings != 1 || w.Git.Pushes != 0 {
		t.Errorf("an idle pass listed %d times and pushed %d times", w.Git.Listings, w.Git.Pushes)
	}
	if len(w.Forge.Calls) != 2 || w.Forge.Calls["list open"] != 1 || w.Forge.Calls["recent"] != 1 {
		t.Errorf("an idle pass asked the forge %v", w.Forge.Calls)
	}
}

// A snapshot that comes back after another one soaks again: what was recorded is about its first stay.
func TestReconcile_soaksAgainAfterRollback(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"push", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			config := strings.Replace(threeEnvironments, "land: push", "land: "+land, 1)
			w := newWorld(t, strings.Replace(config, "after: [dev]", "after: {dev: {soak: 1h}}", 1))
			w.pushAndRun(web, "1.1.0")
			w.Clock.Add(2 * time.Minute)
			w.pushAndRun(web, "1.2.0")
			w.Clock.Add(30 * time.Minute)
			images := map[string]string{
				"web":    web + ":1.1.0@" + reconciletest.Digest("web 1.1.0"),
				"worker": worker + ":1.0.0@" + reconciletest.Digest("worker 1.0.0"),
			}
			w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow"), Images: images}))
			w.run()
			w.holds("dev", "1.1.0 1.0.0")
			w.Clock.Add(59 * time.Minute)
			wantReason(t, w.run(), "staging", "waiting", "present since 2026-11-18T11:32:00Z")
			w.calm()
			w.Clock.Add(time.Minute)
			wantReason(t, w.run(), "staging", "proposed")
		})
	}
}
