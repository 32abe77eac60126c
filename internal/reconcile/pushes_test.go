package reconcile_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/reconciletest"
)

// Where the forge reports a push, nothing begins again with the first key, with a new one, or without the state branch, and
// nothing is to be adopted: whether a user or promoter pushed.
func TestPushes_proveTheSoak(t *testing.T) {
	t.Parallel()
	pushes := map[string]func(w *sealedWorld){
		"a user":   func(w *sealedWorld) { w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0")) },
		"promoter": func(w *sealedWorld) { w.run(); w.lands() },
		"two at once": func(w *sealedWorld) {
			w.Git.Set("next", w.Git.Branch("main"))
			w.byHand("next", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			w.Git.Commit("next", reconciletest.Human, w.Clock.Now(), "More", func(all map[string]string) { all["README"] = "more" })
			w.Git.Set("main", w.Git.Branch("next"))
		},
	}
	before := map[string]func(w *sealedWorld){
		"from run to serve": func(w *sealedWorld) { w.run() },
		"never seen":        func(*sealedWorld) {},
		"with a new key, without the database": func(w *sealedWorld) {
			w.reconcile()
			w.keys, w.memory = sealKeys(w.t, "n"), nil
		},
	}
	for by, push := range pushes {
		for name, change := range before {
			t.Run(by+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newSealedWorld(t, soakingConfig("push"))
				w.push(web, "1.1.0")
				push(w)
				w.holds("staging", "1.1.0 1.0.0")
				w.Clock.Add(20 * time.Second)
				change(w)
				w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Later", func(all map[string]string) { all["README"] = "later" })
				wantReason(t, w.reconcile(), "prod", "present since 2026-11-18T11:00:00Z")
				asked := w.Forge.Calls["pushed"]
				w.Clock.Add(5 * time.Second)
				report := w.reconcile()
				if got := reason(report, "prod"); strings.Contains(got, "adopt") || len(w.state().SetAside()) > 0 {
					t.Errorf("prod is %q, set aside %v", got, w.state().SetAside())
				}
				w.Clock.Add(5 * time.Second)
				w.reconcile()
				w.holds("prod", "1.1.0 1.0.0")
				w.calm()
				if again := w.Forge.Calls["pushed"] - asked; again > 0 {
					t.Errorf("asked %d times, then %d times more", asked, again)
				}
			})
		}
	}
}

// The time is that of the forge, and that of the last push that brought the versions to the branch.
func TestPushes_proveNothingEarlier(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(w *world, before, after string){
		"a commit with an older time": func(w *world, before, _ string) {
			w.Git.Set("main", before)
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now().Add(-time.Hour), "By hand", func(all map[string]string) {
				all["staging/shop.txt"] = strings.ReplaceAll(all["staging/shop.txt"], line(web, "1.0.0"), line(web, "1.1.0"))
			})
		},
		"moved away and back": func(w *world, before, after string) {
			w.Git.Set("main", before)
			w.Git.Set("main", after)
		},
		"deleted and pushed again": func(w *world, _, after string) {
			w.Git.Set("main", "")
			w.Git.Set("main", after)
		},
		"reverted, and the revert reverted": func(w *world, _, _ string) {
			w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soakingWorld(t, "pr")
			w.push(web, "1.1.0")
			before := w.Git.Branch("main")
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			w.Clock.Add(20 * time.Second)
			again(w, before, w.Git.Branch("main"))
			w.Clock.Add(20 * time.Second)
			wantReason(t, w.run(), "prod", "present since 2026-11-18T11:00:20Z")
			w.holds("prod", "1.0.0 1.0.0")
			w.Clock.Add(10 * time.Second)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// Where promoter may not read the pushes, a soak begins when the version is seen, and the log has the reason.
func TestPushes_whatIsHiddenProvesNothing(t *testing.T) {
	t.Parallel()
	w := soakingWorld(t, "pr")
	w.Forge.HidesPushes = true
	w.push(web, "1.1.0")
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.Clock.Add(20 * time.Second)
	var log bytes.Buffer
	r := w.Reconciler()
	r.Clients.Log = slog.New(slog.NewTextHandler(&log, nil))
	report, err := r.Reconcile(t.Context())
	if err != nil || report.Failed() {
		t.Fatal(err, report.Errors)
	}
	wantReason(t, report, "prod", "present since 2026-11-18T11:00:20Z")
	if !strings.Contains(log.String(), "pushes unknown") {
		t.Errorf("the log has no reason: %s", log.String())
	}
}
