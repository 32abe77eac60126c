package reconcile_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/explain"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
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
	return w.recordOf(in(environment))
}

func (w *world) recordOf(target state.Target) state.Record {
	w.t.Helper()
	branch, err := w.Reconciler().Clients.StateBranch().Read(w.t.Context(), w.Git.Branch(state.Branch), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return branch.Counts.At(target)
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

// What a user rejected explicitly stays rejected, whatever is written: it is there, and goes nowhere from there. The
// explanation has both, and unreject ends it.
func TestReconcile_explicitRejectionSurvivesLaterActs(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]state.Target{
		"of the application": in("staging"),
		"of the environment": {Environment: "staging", Application: state.All},
		"of the repository":  {Environment: state.All, Application: state.All},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			images := map[string]string{"web": line(web, "1.1.0")}
			w.decide(state.Reject(scope, state.Rejection{Act: w.act("broken"), Images: images}))
			w.run()
			w.Clock.Add(time.Minute)
			w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
			report := w.run()
			w.holds("staging", "1.1.0 1.0.0")
			w.holds("prod", "1.0.0 1.0.0")
			wantReason(t, report, "staging", "same")
			wantReason(t, report, "prod", "rejected by ada")
			w.calm()
			explained, err := w.Reconciler().Explain(t.Context(), reconcile.Question{Environment: "staging"})
			if err != nil {
				t.Fatal(err)
			}
			note := "web 1.1.0 was rejected by ada on 2026-11-18: broken; a user wrote it here by hand, and goes nowhere from here"
			if notes := notesOf(explained, "staging"); !slices.Contains(notes, note) {
				t.Errorf("the notes are %q, want %q", notes, note)
			}
			w.Clock.Add(time.Minute)
			w.decide(w.unreject(scope, "1.1.0"))
			if notes := notesOf(w.run(), "staging"); len(notes) > 0 {
				t.Errorf("after unreject, the notes are %q", notes)
			}
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// What promoter itself brought before it was rejected was not written by hand.
func TestReconcile_rejectedWhereItIs(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.mergeByHand(1, "merge")
	w.run()
	w.decide(state.Reject(in("prod"), state.Rejection{Act: w.act("broken"), Images: map[string]string{"web": line(web, "1.1.0")}}))
	note := "web 1.1.0 was rejected by ada on 2026-11-18: broken; it is still here, and goes nowhere from here"
	if notes := notesOf(w.run(), "prod"); !slices.Contains(notes, note) {
		t.Errorf("the notes are %q, want %q", notes, note)
	}
	w.holds("prod", "1.1.0 1.0.0")
	w.calm()
}

// notesOf returns the notes about rejected versions of shop in an environment.
func notesOf(report outcome.Report, environment string) (notes []string) {
	for _, d := range report.Decisions {
		if d.Environment != environment || d.Application != "shop" {
			continue
		}
		for _, note := range d.Notes {
			if note.Rule == promotion.RuleRejected {
				notes = append(notes, note.Message)
			}
		}
	}
	return notes
}

// A close, an explicit rejection, and its end record the heads that they saw, once each.
func TestReconcile_decisionsRecordTheHeadsThatTheySaw(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	main := w.Git.Branch("main")
	images := map[string]string{"web": line(web, "1.2.0")}
	everywhere := state.Target{Environment: state.All, Application: state.All}
	w.decide(state.Reject(in("prod"), state.Rejection{Act: w.act("broken"), Images: images}),
		state.Reject(everywhere, state.Rejection{Act: w.act("broken"), Images: images}), w.unreject(in("dev"), "1.1.0"))
	w.Forge.CloseByHand(1, "ada")
	w.run()
	decided := w.recordOf(in("dev")).Unrejections[0].Act
	acts := map[string]state.Act{"unreject": decided}
	for name, target := range map[string]state.Target{"reject": in("prod"), "reject everywhere": everywhere, "close": in("staging")} {
		rejection := w.recordOf(target).Rejections[0]
		acts[name] = rejection.Act
		if len(rejection.Heads) > 0 || !slices.Equal(rejection.Saw(), []string{main}) {
			t.Errorf("%s: %v and %v, want %s once", name, rejection.Heads, rejection.Saw(), main)
		}
	}
	for name, act := range acts {
		if act.Location == nil || act.Location.Heads[""] != main {
			t.Errorf("%s saw %+v, want %s", name, act.Location, main)
		}
	}
	w.calm()
}

// A file of an earlier release has the heads beside the location.
func TestReconcile_headsOfEarlierReleases(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	rejection := state.Rejection{Act: w.act("closed"), Number: 1, Images: map[string]string{"web": line(web, "1.1.0")}}
	rejection.Heads = []string{w.Git.Branch("main")}
	w.Forge.CloseByHand(1, "ada")
	w.Clock.Add(time.Minute)
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.decide(state.Reject(in("staging"), rejection)) // whose location is of now
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	w.calm()
}

// What was reverted when a user allowed it again is forgotten, and what was reverted later is not, whatever times
// the commits have: the decision recorded what it saw.
func TestReconcile_unrejectKnowsEarlierReverts(t *testing.T) {
	t.Parallel()
	revert := func(w *world, ahead time.Duration) {
		w.Git.Commit("main", reconciletest.Human, w.Clock.Now().Add(ahead), "Revert", func(all map[string]string) {
			all["staging/shop.txt"] = strings.ReplaceAll(all["staging/shop.txt"], line(web, "1.1.0"), line(web, "1.0.0"))
		})
	}
	ways := map[string]func(w *world){
		"by a command": func(w *world) { w.decide(w.unreject(in("staging"), "1.1.0")) },
		"by a comment": func(w *world) { w.comment(1, "ada", "/promoter unreject") },
	}
	for name, ahead := range map[string]time.Duration{"": 0, ", with a time of long ago": -48 * time.Hour, ", ahead": 30 * time.Minute} {
		for by, unreject := range ways {
			for when, test := range map[string]struct {
				acts func(w *world)
				want string
			}{
				"before": {func(w *world) {
					revert(w, ahead)
					w.run()
					w.Clock.Add(time.Minute)
					unreject(w)
				}, "proposed"},
				"after": {func(w *world) {
					unreject(w)
					w.Clock.Add(time.Minute)
					revert(w, ahead)
				}, "reverted"},
			} {
				t.Run("reverted "+when+" "+by+name, func(t *testing.T) {
					t.Parallel()
					w := staged(t, threeEnvironments)
					w.mergeByHand(1, "merge")
					w.run()
					w.Clock.Add(time.Minute)
					test.acts(w)
					wantReason(t, w.run(), "staging", test.want)
					w.calm()
				})
			}
		}
	}
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

// A bot cancels no rollback: it is opened again once. Then it waits for a user, with the reason and what to do.
func TestReconcile_botClosesTheRollback(t *testing.T) {
	t.Parallel()
	acts := map[string]func(w *world){
		"reopened":      func(w *world) { w.Forge.Reopen(3, "ada") },
		"allowed again": func(w *world) { w.decide(w.unreject(in("staging"), "1.0.0")) },
	}
	for name, act := range acts {
		for scope, rejected := range map[string]*state.Target{"": nil, ", rejected before": {Environment: "staging", Application: "shop"}, ", rejected everywhere": {Environment: state.All, Application: state.All}} {
			t.Run(name+scope, func(t *testing.T) {
				t.Parallel()
				w := soaked(t, followedAfterSoak)
				w.rollBack("staging")
				if rejected != nil {
					earlier := w.act("old")
					earlier.At = earlier.At.Add(-time.Hour)
					w.decide(state.Reject(*rejected, state.Rejection{Act: earlier, Images: map[string]string{"web": line(web, "1.0.0")}}))
				}
				w.run()
				var report outcome.Report
				for _, number := range []int{2, 3} {
					w.Clock.Add(time.Minute)
					w.Forge.CloseByHand(number, "stale[bot]")
					report = w.run()
					if record := w.record("staging"); record.Rollback == nil || record.Hold == nil {
						t.Errorf("after #%d, staging has %+v", number, record)
					}
				}
				wantReason(t, report, "staging", "waiting", "web 1.0.0 is blocked", "stale[bot]", "#3", "#2")
				w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop closed", "promoter/staging/shop closed")
				w.holds("prod", "1.0.0 1.0.0")
				w.calm()
				if advice := w.advice("staging"); !strings.Contains(advice, "reopen") || !strings.Contains(advice, "promoter unreject web:1.0.0 --env staging --app shop") {
					t.Errorf("the advice is %q", advice)
				}
				w.Clock.Add(time.Minute)
				act(w)
				w.run()
				pulls := w.Forge.All()
				last := len(pulls)
				if pulls[last-1].State != scm.StateOpen {
					t.Fatalf("no pull request is open: %v", w.pulls())
				}
				w.mergeByHand(last, "merge")
				w.run()
				w.holds("staging", "1.0.0 1.0.0")
				w.holds("prod", "1.0.0 1.0.0")
				for _, rejection := range w.record("staging").Rejections {
					if rejection.Blocked {
						t.Errorf("still blocked: %+v", rejection)
					}
				}
				w.calm()
			})
		}
	}
}

// A bot ends no request of a user: the hotfix waits for a user, with the reason.
func TestReconcile_botClosesTheHotfix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	request := state.Request{Act: w.act("fix"), With: []string{web + ":1.1.0"}, For: map[string]string{"web": line(web, "1.1.0")}}
	w.decide(state.AddRequest(in("staging"), request))
	w.run()
	var report outcome.Report
	for _, number := range []int{1, 2} {
		w.Clock.Add(time.Minute)
		w.Forge.CloseByHand(number, "stale[bot]")
		report = w.run()
	}
	wantReason(t, report, "staging", "waiting", "web 1.1.0 is blocked", "stale[bot]", "#2", "#1")
	if record := w.record("staging"); record.Request == nil || record.EndedRequest != nil {
		t.Errorf("staging has %+v", record)
	}
	if advice := w.advice("staging"); !strings.Contains(advice, "reopen") {
		t.Errorf("the advice is %q", advice)
	}
	w.calm()
	w.Forge.Reopen(2, "ada")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
	w.mergeByHand(2, "merge")
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	if record := w.record("staging"); record.Request != nil || record.EndedRequest != nil {
		t.Errorf("staging has %+v", record)
	}
}

// advice returns what a user can do about shop in an environment, as the explanation has it.
func (w *world) advice(environment string) string {
	w.t.Helper()
	explained, err := w.Reconciler().Explain(w.t.Context(), reconcile.Question{Environment: environment})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range explained.Decisions {
		if d.Environment == environment && d.Application == "shop" {
			blocker, _ := explain.Blocking(d, nil)
			return blocker.Advice
		}
	}
	return ""
}
