package reconcile_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/state"
)

// rejectedByClose is a world in which ada closed the pull request of web 1.1.0 for staging.
func rejectedByClose(t *testing.T) *world {
	t.Helper()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "ada")
	wantReason(t, w.run(), "staging", "rejected", "ada", "#1")
	w.calm()
	return w
}

// rejections returns how many rejections the record of an environment has.
func (w *world) rejections(environment string) int {
	w.t.Helper()
	return len(w.record(environment).Rejections)
}

// record returns what the state branch has about shop in an environment.
func (w *world) record(environment string) state.Record {
	w.t.Helper()
	branch, err := w.Reconciler().Clients.StateBranch().Read(w.t.Context(), w.Git.Branch(state.Branch), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return branch.Counts.At(in(environment))
}

func TestReconcile_reopenedPullRequestStaysOpen(t *testing.T) {
	t.Parallel()
	w := rejectedByClose(t)
	w.Forge.Reopen(1, "ada")
	report := w.run()
	wantReason(t, report, "staging", "proposed")
	w.wantPulls("promoter/staging/shop open")
	if n := w.rejections("staging"); n != 0 {
		t.Errorf("%d rejections are left", n)
	}
	w.calm()
	w.Clock.Add(time.Minute)
	w.Forge.CloseByHand(1, "bob") // again
	wantReason(t, w.run(), "staging", "rejected", "bob", "#1")
	w.wantPulls("promoter/staging/shop closed")
	w.calm()
}

// The forge shows that a bot reopened it: the close of the user counts.
func TestReconcile_reopenedByABotIsClosedAgain(t *testing.T) {
	t.Parallel()
	w := rejectedByClose(t)
	w.Forge.Reopen(1, "reopener[bot]")
	wantReason(t, w.run(), "staging", "rejected", "ada")
	w.wantPulls("promoter/staging/shop closed")
	w.calm()
}

func TestReconcile_reopenedAndMergedContinues(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(w *world){"": func(*world) {}, ", seen while it is open": func(w *world) { w.run() }} {
		for _, method := range []string{"merge", "squash", "rebase"} {
			t.Run(method+name, func(t *testing.T) {
				t.Parallel()
				w := rejectedByClose(t)
				w.Clock.Add(time.Minute)
				w.Forge.Reopen(1, "ada")
				between(w)
				w.mergeByHand(1, method)
				w.run()
				w.holds("staging", "1.1.0 1.0.0")
				w.holds("prod", "1.1.0 1.0.0")
				w.calm()
			})
		}
	}
}

// A user writes the version that was closed: it continues from there, also in a process that has little history.
func TestReconcile_closedThenWrittenByHandContinues(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(w *world){"": func(w *world) { w.run() }, "little history": func(w *world) { w.fresh() }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rejectedByClose(t)
			w.Clock.Add(time.Minute)
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			run(w)
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
			// The close stays settled when the versions are replaced.
			w.Clock.Add(time.Minute)
			w.push(web, "1.2.0")
			run(w)
			w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged", "promoter/staging/shop open")
			if n := w.rejections("staging"); n != 0 {
				t.Errorf("%d rejections", n)
			}
			w.calm()
		})
	}
}

// The times of commits decide nothing: the commit is later because the decision did not see it.
func TestReconcile_forgedTimesOfCommitsDecideNothing(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"before the close": -48 * time.Hour, "in the future": 48 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rejectedByClose(t)
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now().Add(ahead), "By hand", func(all map[string]string) {
				all["staging/shop.txt"] = strings.ReplaceAll(all["staging/shop.txt"], line(web, "1.0.0"), line(web, "1.1.0"))
			})
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// A branch that was moved back to what a decision had seen is not later.
func TestReconcile_movedBackBranchOverrulesNoClose(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	seen := w.Git.Branch("main")
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	had := w.Git.Branch("main")
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	w.Forge.CloseByHand(1, "ada")
	w.run()
	if w.rejections("staging") == 0 || seen == had {
		t.Fatal("the close is no rejection")
	}
	w.Git.Set("main", had)
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
}

// What a user rejected explicitly stays rejected, whatever is written.
func TestReconcile_explicitRejectionSurvivesLaterActs(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	images := map[string]string{"web": line(web, "1.1.0")}
	w.decide(state.Reject(in("staging"), state.Rejection{Act: w.act("broken"), Images: images}))
	w.run()
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	if n := w.rejections("staging"); n != 1 {
		t.Errorf("%d rejections", n)
	}
	w.calm()
}

// Only the versions that a user wrote continue.
func TestReconcile_partOfAClosedSnapshotWrittenByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	w.pushAndRun(worker, "1.1.0")
	w.Forge.CloseByHand(1, "ada")
	w.run()
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	report := w.run()
	w.holds("prod", "1.1.0 1.0.0")
	wantReason(t, report, "staging", "rejected", "worker 1.1.0")
	w.calm()
}

func TestReconcile_revertedThenAppliedAgainContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge, gates: {checks: [ci]}}"))
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.run() // prod waits for ci
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop closed")
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop closed", "promoter/prod/shop open")
	w.calm()
}

// A branch that was moved back and then got the lost commits again continues.
func TestReconcile_movedBackThenRestoredContinues(t *testing.T) {
	t.Parallel()
	w, m := staged(t, threeEnvironments), &memory{}
	before := w.Git.Branch("main")
	w.mergeByHand(1, "merge")
	merged := w.Git.Branch("main")
	w.remembering(m)
	w.Git.Set("main", before)
	w.remembering(m)
	if w.rejections("staging") == 0 {
		t.Fatal("what was moved back is not rejected")
	}
	w.Git.Set("main", merged)
	w.remembering(m)
	if n := w.rejections("staging"); n != 0 {
		t.Errorf("%d rejections", n)
	}
}

// On a tie, the act that stops more counts.
func TestReconcile_tieStops(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.decide(state.Resume(in("staging"), w.act("")))
	w.Forge.CloseByHand(1, "ada") // at the same time
	wantReason(t, w.run(), "staging", "rejected", "ada")
	w.wantPulls("promoter/staging/shop closed")
	w.calm()
}

// A bot decides nothing: its close is undone once, then the versions are blocked until a user acts.
func TestReconcile_closeByABotReopensOnce(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "stale[bot]")
	wantReason(t, w.run(), "staging", "proposed")
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
	w.calm()
	w.Clock.Add(time.Minute)
	w.Forge.CloseByHand(2, "stale[bot]")
	wantReason(t, w.run(), "staging", "waiting", "blocked", "web 1.1.0", "bot", "#2", "#1")
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop closed")
	w.calm()

	// A newer version has a chance of its own.
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop closed", "promoter/staging/shop open")
	w.calm()
}

// A user ends the block by reopening one of the pull requests, by a merge, or by writing the versions.
func TestReconcile_userEndsTheBlockOfABot(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world){
		"reopens the last one":  func(w *world) { w.Forge.Reopen(2, "ada") },
		"reopens the first one": func(w *world) { w.Forge.Reopen(1, "ada") },
		"merges": func(w *world) {
			w.Forge.Reopen(2, "ada")
			w.mergeByHand(2, "merge")
		},
		"writes": func(w *world) { w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			for number := range 2 {
				w.Forge.CloseByHand(number+1, "stale[bot]")
				w.run()
				w.Clock.Add(time.Minute)
			}
			if w.rejections("staging") != 1 {
				t.Fatal("nothing is blocked")
			}
			act(w)
			w.run()
			if n := w.rejections("staging"); n != 0 {
				t.Errorf("%d versions are blocked", n)
			}
			w.calm()
		})
	}
}

func TestReconcile_userClosesAfterABot(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.CloseByHand(1, "stale[bot]")
	w.run()
	w.Clock.Add(time.Minute)
	w.Forge.CloseByHand(2, "ada")
	wantReason(t, w.run(), "staging", "rejected", "ada", "#2")
	w.calm()
}

// What happened to one pull request between two reconciliations counts in the order of the forge, without what
// bots did.
func TestReconcile_lastActOfAUserBeforeABot(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		acts func(w *world)
		want string
	}{
		"a user closes, a bot reopens and closes": {func(w *world) {
			w.Forge.CloseByHand(1, "ada")
			w.Forge.Reopen(1, "stale[bot]")
			w.Forge.CloseByHand(1, "stale[bot]")
		}, "rejected"},
		"a user closes and reopens, a bot closes": {func(w *world) {
			w.Forge.CloseByHand(1, "ada")
			w.Forge.Reopen(1, "ada")
			w.Forge.CloseByHand(1, "stale[bot]")
		}, "proposed"},
		"a recorded close, a user reopens, a bot closes": {func(w *world) {
			w.Forge.CloseByHand(1, "ada")
			w.run()
			w.Clock.Add(time.Minute)
			w.Forge.Reopen(1, "ada") // which no reconciliation observes
			w.Forge.CloseByHand(1, "stale[bot]")
		}, "rejected"},
		"a recorded close, a bot reopens and closes": {func(w *world) {
			w.Forge.CloseByHand(1, "ada")
			w.run()
			w.Clock.Add(time.Minute)
			w.Forge.Reopen(1, "stale[bot]")
			w.Forge.CloseByHand(1, "stale[bot]")
		}, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			test.acts(w)
			wantReason(t, w.run(), "staging", test.want)
			w.calm()
		})
	}
}

// A bot that deletes old branches closes their pull requests.
func TestReconcile_botDeletesTheBranch(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.Deletes = "cleanup[bot]"
	w.Git.Set("promoter/staging/shop", "")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
	w.Clock.Add(time.Minute)
	w.Git.Set("promoter/staging/shop", "")
	wantReason(t, w.run(), "staging", "blocked", "#2")
	if w.record("staging").Hold != nil {
		t.Error("the bot put the target on hold")
	}
	w.calm()
}

// A dry run and an explanation answer what a reconciliation does, and write nothing.
func TestReconcile_laterActsInDryRunsAndExplanations(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world){
		"reopened": func(w *world) { w.Forge.Reopen(1, "ada") },
		"written":  func(w *world) { w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rejectedByClose(t)
			w.Clock.Add(time.Minute)
			act(w)
			before := w.Git.Branches()
			want := map[string][2]string{"reopened": {"staging", "proposed"}, "written": {"prod", "proposed"}}[name]
			dry, err := w.Reconciler().Rehearse(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wantReason(t, dry, want[0], want[1])
			explained, err := w.Reconciler().Explain(t.Context(), reconcile.Question{Environment: want[0]})
			if err != nil {
				t.Fatal(err)
			}
			wantReason(t, explained, want[0], want[1])
			if !maps.Equal(before, w.Git.Branches()) {
				t.Error("a question changed the repository")
			}
			wantReason(t, w.run(), "staging", map[string]string{"reopened": "proposed", "written": "same"}[name])
		})
	}
}

// A reconciliation that reuses decisions ends a close as one that decides about everything, also when it decides
// again before it writes.
func TestReconcile_laterActsWithKeptDecisions(t *testing.T) {
	t.Parallel()
	p := newProcessOf(t, strings.Replace(twoApplications, "after: [dev], land: push}", "after: [dev]}", 1))
	p.push(web, "1.1.0")
	p.reconcile()
	p.Forge.CloseByHand(1, "ada")
	wantReason(t, p.reconcile(), "staging", "rejected", "ada")
	p.Clock.Add(time.Minute)
	p.Forge.Reopen(1, "ada")
	p.push(web, "1.2.0")
	report := p.reconcile()
	wantReason(t, report, "staging", "proposed", "1.2.0")
	p.wantPulls("promoter/staging/shop open")
	if n := p.rejections("staging"); n != 0 {
		t.Errorf("%d rejections", n)
	}
	p.calm()
}

// A bot cancels no rollback, and does not keep it from users.
func TestReconcile_botClosesTheRollback(t *testing.T) {
	t.Parallel()
	w := soaked(t, followedAfterSoak)
	w.rollBack("staging")
	w.run()
	for _, number := range []int{2, 3} {
		w.Clock.Add(time.Minute)
		w.Forge.CloseByHand(number, "stale[bot]")
		w.run()
		if record := w.record("staging"); record.Rollback == nil || record.Hold == nil {
			t.Errorf("after #%d, staging has %+v", number, record)
		}
	}
	w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop closed", "promoter/staging/shop closed",
		"promoter/staging/shop open")
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
	w.mergeByHand(4, "merge")
	w.run()
	w.holds("staging", "1.0.0 1.0.0")
	if n := w.rejections("staging"); n != 0 {
		t.Errorf("%d versions are blocked", n)
	}
}
