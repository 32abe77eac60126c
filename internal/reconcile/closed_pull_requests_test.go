package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// A close before an unreject is settled, even if no reconciliation observed it.
func TestReconcile_unrejectAfterAnUnobservedClose(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]state.Target{
		"the application": in("staging"),
		"the environment": {Environment: "staging", Application: state.All},
		"the repository":  {Environment: state.All, Application: state.All},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.Forge.CloseByHand(1, "ada")
			w.Clock.Add(time.Minute)
			w.decide(w.unreject(target, "1.1.0"))
			w.run()
			w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
			w.calm()
		})
	}
}

// A resume ends no close.
func TestReconcile_resumeAfterACloseKeepsIt(t *testing.T) {
	t.Parallel()
	for name, observed := range map[string]bool{"observed": true, "not observed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.Forge.CloseByHand(1, "ada")
			if observed {
				w.run()
			}
			w.Clock.Add(time.Minute)
			w.decide(state.ResumeWithin(state.Target{Environment: state.All, Application: state.All}, w.act("")))
			wantReason(t, w.run(), "staging", "rejected", "ada")
			w.wantPulls("promoter/staging/shop closed")
			w.calm()
		})
	}
}

// The versions of one application of a closed group are allowed again: only that one continues.
func TestReconcile_allowsOneApplicationOfAGroup(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.Forge.CloseByHand(1, "ada")
	w.run()
	w.wantPulls("promoter/staging/_all closed")
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("staging"), "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/_all closed", "promoter/staging/_all open")
	if title := w.pull(2).Title; strings.Contains(w.pull(2).Body, "cart") {
		t.Errorf("cart, whose version was not allowed again, is in %q", title)
	}
	w.calm()
}

// A close by a user stays a decision when nothing differs for a while, and the unused
// branch is deleted.
func TestReconcile_closeWhileNothingDiffersIsRemembered(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.calm()
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("dev"), "1.1.0"))
	report := w.run()
	w.holds("dev", "1.1.0 1.0.0")
	wantReason(t, report, "staging", "rejected", "ada")
	w.wantPulls("promoter/staging/shop closed")
}

// A recorded close is not recorded again as something else once the branch is gone.
func TestReconcile_recordedCloseIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	w.run()
	w.push(web, "1.2.0")
	w.run() // #2
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.2.0"))
	w.run() // closes #2 and deletes the branch
	w.push(web, "1.3.0")
	w.run() // #3
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop closed", "promoter/prod/shop merged", "promoter/staging/shop open")
	w.Git.Set("promoter/staging/shop", "")
	report := w.run() // opened again once
	wantReason(t, report, "staging", "proposed")
	w.calm()
}

// A close that makes room under the limit does not reopen another closed one.
func TestReconcile_closeMakesRoomForNoClosedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], pullRequest: {limit: 1}}"))
	w.push(web, "1.1.0")
	w.run() // #1 for shop
	w.Forge.CloseByHand(1, "ada")
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "another", func(all map[string]string) {
		all["dev/cart.txt"], all["staging/cart.txt"] = line(web, "1.1.0"), line(web, "1.0.0")
	})
	w.run() // #2 for cart, shop waits in line
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/cart open")
	w.Forge.CloseByHand(2, "ada")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/cart closed")
}

// A user closes a pull request, and its versions are pushed from now on.
func TestReconcile_closeBeforeLandPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "land: push}", "land: pr}"))
	w.pushAndRun(web, "1.1.0")
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Push", func(all map[string]string) { all[repo.ConfigFile] = threeEnvironments })
	w.Forge.CloseByHand(1, "ada")
	report := w.run()
	wantReason(t, report, "dev", "rejected", "ada")
	w.holds("dev", "1.0.0 1.0.0")
	w.calm()
	w.pushAndRun(web, "1.2.0")
	w.holds("dev", "1.2.0 1.0.0")
	w.calm()
}

// A user closes a pull request and deletes its branch before the next reconciliation:
// that is a close, not only a deleted branch.
func TestReconcile_closeThenDeletedBranchIsAClose(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]time.Duration{"deleted later": 5 * time.Second, "deleted at once": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			w.Forge.CloseByHand(1, "ada")
			w.Clock.Add(between)
			w.Git.Set("promoter/staging/shop", "")
			report := w.run()
			if between == 0 {
				w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
				return
			}
			wantReason(t, report, "staging", "rejected", "ada", "#1")
			w.wantPulls("promoter/staging/shop closed")
			w.calm()
			w.pushAndRun(web, "1.2.0")
			w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
			if n := w.Forge.Calls["deletions"]; n != 1 {
				t.Errorf("asked for the deletion %d times", n)
			}
		})
	}
}

// A forge sends something about one pull request that cannot be read. It counts as
// unknown, which is reported, and everything else goes on.
func TestReconcile_unreadableTimelineOfOnePullRequest(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	w.Clock.Add(5 * time.Second)
	w.Git.Set("promoter/staging/shop", "")
	w.failing("deletions", fault.New(fault.Invalid, "the answer has another form than expected"))
	report := w.partial()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].What+report.Errors[0].Err.Error(), "#1 was deletedthe answer has another form") {
		t.Errorf("errors: %+v", report.Errors)
	}
}

// A merge may leave the branch. When what it brought is proposed again, a pull request of the
// merged commit would be empty: forges refuse it, or count it as merged.
func TestReconcile_mergedHeadIsNotProposedAgain(t *testing.T) {
	t.Parallel()
	for name, merge := range map[string]func(w *world){
		"merge commit": func(w *world) { w.mergeByHand(1, "merge") },
		"fast-forward": func(w *world) { w.Git.Set("main", w.pull(1).Head.Commit) },
	} {
		for depth, run := range map[string]func(w *world){"": func(w *world) { w.run() }, ", little history": func(w *world) { w.fresh() }} {
			t.Run(name+depth, func(t *testing.T) {
				t.Parallel()
				w := staged(t, threeEnvironments)
				merge(w)
				w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
				w.Clock.Add(time.Minute)
				w.decide(w.unreject(in("staging"), "1.1.0"))
				run(w)
				w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop open")
				run(w)
				w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop open")
				w.calm()
			})
		}
	}
}
