package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// readyToMerge is a world with a pull request of prod that may be merged: its check
// passed.
func readyToMerge(t *testing.T) *world {
	t.Helper()
	w := merged(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge, gates: {checks: [ci]}}"))
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
	return w
}

// Users act between the observation and the merge.
func TestReconcile_usersActBetweenObserveAndAct(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world){
		"retargeted":  func(w *world) { w.Forge.Retarget(2, "other") },
		"a draft":     func(w *world) { w.Forge.Draft(2, true) },
		"closed":      func(w *world) { w.Forge.CloseByHand(2, "ada") },
		"objected":    func(w *world) { w.Forge.Review(2, "ada", scm.ChangesRequested) },
		"check fails": func(w *world) { w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckFailed) },
		"held":        func(w *world) { w.decide(state.Hold(in("prod"), w.act(""))) },
		"frozen":      func(w *world) { w.decide(state.Freeze(state.All, w.act(""), nil)) },
		"config": func(w *world) {
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "pr", func(all map[string]string) {
				all[repo.ConfigFile] = strings.ReplaceAll(all[repo.ConfigFile], "land: automerge", "land: pr")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readyToMerge(t)
			w.Git.Set("other", w.Git.Branch("main"))
			lists := 0
			w.Forge.Fail = func(call string) error {
				if call == "list open" {
					if lists++; lists == 2 {
						act(w)
					}
				}
				return nil
			}
			w.run()
			w.Forge.Fail = nil
			if lists < 2 {
				t.Fatal("nothing was asked again")
			}
			w.holds("prod", "1.0.0 1.0.0")
			if w.Git.FilesOf(w.Git.Branch("other"))["prod/shop.txt"] != files()["prod/shop.txt"] {
				t.Error("it landed in another branch")
			}
			w.run()
			w.calm()
		})
	}
}

// A user reopens a pull request that promoter closed.
func TestReconcile_reopenedByAUser(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	head := w.pull(1).Head.Commit
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged")
	w.Git.Set("promoter/staging/shop", head)
	w.Forge.Reopen(1, "ada")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged")
	w.calm()
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged", "promoter/staging/shop open")
	w.calm()
}

// Two environments share a file: what is pushed for one is in the pull request of the
// other.
func TestReconcile_sharedFileOfTwoEnvironments(t *testing.T) {
	t.Parallel()
	text := `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}, only: {environments: [a]}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}, only: {environments: [b]}}
environments:
  a: {paths: ["all/{application}.txt"], land: push}
  b: {paths: ["all/{application}.txt"], land: pr}
`
	w := &world{World: reconciletest.New(text, map[string]string{"all/shop.txt": files()["dev/shop.txt"]}), t: t}
	for _, repository := range []string{web, worker} {
		w.push(repository, "1.0.0")
		w.push(repository, "1.1.0")
	}
	pushes := 0
	w.Git.Effect = func(before bool, updates []repo.Update) error {
		if before && strings.HasPrefix(updates[0].Branch, "promoter/b/") {
			pushes++
			if file := w.Git.FilesOf(updates[0].New)["all/shop.txt"]; !strings.Contains(file, "web:1.1.0") {
				t.Errorf("the pull request takes web back:\n%s", file)
			}
		}
		return nil
	}
	w.run()
	if pushes != 1 {
		t.Errorf("the head was pushed %d times", pushes)
	}
	w.calm()
}

// Several merges work even when a user merges in between.
func TestReconcile_othersMergeConcurrently(t *testing.T) {
	t.Parallel()
	w := many(t, 12, "automerge")
	w.push(web, "1.1.0")
	merges := 0
	w.Forge.Effect = func(before bool, what string) error {
		if !before && what == "merge" {
			merges++
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), fmt.Sprint(merges), func(all map[string]string) { all["README"] += "x" })
		}
		return nil
	}
	w.run()
	for i := range 12 {
		w.holds(fmt.Sprintf("e%d", i), "1.1.0")
	}
}

// Clocks of users and forges differ a little. An unreject after the close, by a late clock,
// is not lost forever.
func TestReconcile_unrejectDespiteClockSkew(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("staging"), "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
}

// Observe writes nothing, whatever there is to do: a decision to record, a status to
// set, a branch to delete, a pull request to close or to merge.
func TestObserve_writesNothing(t *testing.T) {
	t.Parallel()
	w := readyToMerge(t)
	w.pushAndRun(web, "1.2.0")
	w.Forge.CloseByHand(3, "ada")
	w.Git.Set("promoter/dev/shop", w.Git.Branch("promoter/prod/shop"))
	w.Git.Set("feature", w.Git.Branch("main"))
	w.Git.Commit("feature", reconciletest.Human, w.Clock.Now(), "Mine", func(all map[string]string) { all["mine"] = "x" })
	w.Forge.ByHand("ada", "feature", "main", true)
	w.push(worker, "1.1.0")
	nothing := func(what string) error {
		t.Errorf("it wrote: %s", what)
		return nil
	}
	w.Git.Effect = func(bool, []repo.Update) error { return nothing("a push") }
	w.Forge.Effect = func(_ bool, what string) error { return nothing(what) }
	dry := w.Reconciler()
	if _, err := dry.Rehearse(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := w.Reconciler().Preview(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process whose clock is behind sees commits from its future. What a user reverted after an
// unreject stays reverted for it.
func TestReconcile_revertAfterAnUnrejectDespiteClockSkew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.decide(w.unreject(in("dev"), "1.1.0"))
	w.Clock.Add(time.Minute)
	w.pushAndRun(web, "1.1.0")
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	wantReason(t, w.run(), "dev", "reverted", "1.1.0")
	for _, off := range []time.Duration{-10 * time.Second, -10 * time.Minute} {
		r := w.Reconciler()
		r.Clients.Now = func() time.Time { return w.Clock.Now().Add(off) }
		if report, err := r.Reconcile(t.Context()); err != nil || report.Failed() {
			t.Fatalf("%v, %+v", err, report.Errors)
		}
		w.holds("dev", "1.0.0 1.0.0")
	}
}
