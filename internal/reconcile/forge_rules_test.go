package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

// protected is a world with forge rules on main, and an open pull request of prod.
func protected(t *testing.T, gates string, rules scm.Rules) *world {
	t.Helper()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge"+gates+"}"))
	w.Forge.Protected = map[string]scm.Rules{"main": rules}
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
	return w
}

// gates returns those of prod, "NAME: STATE (VALUE) REASON".
func (w *world) gates(report outcome.Report) []string {
	var all []string
	for _, done := range report.Effects {
		if done.Environment.Name != "prod" {
			continue
		}
		for _, gate := range done.Gates {
			line := gate.Name + ": " + string(gate.State)
			if gate.Value != "" {
				line += " (" + gate.Value + ")"
			}
			all = append(all, strings.TrimSpace(line+" "+gate.Reason))
		}
	}
	return all
}

// wantGates checks that the gates begin as wanted, here and in the pull request,
// that nothing was merged, and that a second run writes nothing.
func (w *world) wantGates(report outcome.Report, want ...string) {
	w.t.Helper()
	got := w.gates(report)
	for i, begin := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], begin) || len(got) != len(want) {
			w.t.Fatalf("gates:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if name, _, _ := strings.Cut(begin, ":"); !strings.Contains(w.pull(2).Body, name) {
			w.t.Errorf("%s is not in the pull request:\n%s", name, w.pull(2).Body)
		}
	}
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
}

// tries is the number of merge requests.
func (w *world) tries() int { return w.Forge.Calls["merge"] }

func (w *world) wantTries(want int) {
	w.t.Helper()
	if got := w.tries(); got != want {
		w.t.Errorf("the forge was asked to merge %d times, want %d", got, want)
	}
}

func TestReconcile_forgeRulesAreGates(t *testing.T) {
	t.Parallel()
	w := protected(t, ", gates: {approvals: {count: 1, from: [eve]}}", scm.Rules{Checks: []string{"promoter", "ci"}, Approvals: 2})
	approvals := func(own, theirs string) []string {
		return []string{"approvals: waiting (" + own + " of 1) not approved yet by eve", "protection approvals: waiting (" + theirs + " of 2) main requires 2 approvals"}
	}
	w.wantGates(w.run(), append(approvals("0", "0"), "protection check ci: waiting the check ci was not reported")...)
	w.Forge.Review(2, "ada", scm.Approved)
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPending)
	w.wantGates(w.run(), append(approvals("0", "1"), "protection check ci: waiting ci has not finished")...)
	w.Forge.Review(2, "eve", scm.Approved)
	w.wantGates(w.run(), "approvals: passed (1 of 1)", "protection approvals: passed (2 of 2)", "protection check ci: waiting ci has not finished")
	w.wantTries(0)
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	w.wantTries(1)
}

// Forges count the approvals of bots with write access, and do not report which have
// it. For promoter's own gate they never count.
func TestReconcile_botApprovalCountsForTheForge(t *testing.T) {
	t.Parallel()
	w := protected(t, ", gates: {approvals: {count: 1}}", scm.Rules{Approvals: 1})
	w.Forge.Review(2, "approver[bot]", scm.Approved)
	w.wantGates(w.run(), "approvals: waiting (0 of 1) not approved yet; the approval of approver[bot] does not count: it is a bot's", "protection approvals: passed (1 of 1)")
	w = protected(t, "", scm.Rules{Approvals: 1})
	w.Forge.Review(2, "approver[bot]", scm.Approved)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// Our own status is set before the merge, so that a branch that requires only it does
// not wait for itself.
func TestReconcile_ownStatusRequired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Forge.Protected = map[string]scm.Rules{"main": {Checks: []string{"promoter"}}}
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	w.wantTries(1)
}

func TestReconcile_mergeQueue(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"told": true, "found out": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.Forge.Limits.Rules = known
			w.Forge.Protected = map[string]scm.Rules{"main": {Queue: true}}
			w.pushAndRun(web, "1.1.0")
			w.mergeByHand(1, "merge")
			w.run()
			report := w.run()
			w.wantGates(report, "merge queue: blocked")
			if got := w.gates(report)[0]; !strings.Contains(got, "set land: pr and add the pull request") {
				t.Error(got)
			}
			if status := w.statusOf(w.pull(2).Head.Commit); !strings.HasPrefix(status, "passed") {
				t.Errorf("no queue would take it: its status is %q", status)
			}
			if known {
				w.wantTries(0)
			}
			w.mergeByHand(2, "squash") // as the queue does
			wantReason(t, w.run(), "prod", "same")
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// A refused merge is tried again when something changed about the head, or after some
// time, and never in between.
func TestReconcile_refusedMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	words := "A conversation must be resolved"
	w.Forge.Secret = func(int) string { return words }
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	refused := "merge: blocked the forge refused the merge: A conversation must be resolved"
	w.wantGates(w.run(), refused)
	tries := w.tries()
	for range 3 {
		w.wantGates(w.run(), refused)
	}
	w.wantTries(tries)
	w.Clock.Add(time.Minute)
	w.Forge.Check(w.pull(2).Head.Commit, "lint", scm.CheckPassed)
	w.Clock.Add(time.Minute)
	w.wantGates(w.run(), refused)
	if w.tries() == tries {
		t.Error("it was not tried again after a check")
	}
	tries = w.tries()
	w.Clock.Add(6 * time.Minute)
	w.wantGates(w.run(), refused)
	w.wantTries(tries + 1)
	w.Clock.Add(6 * time.Minute)
	w.wantGates(w.run(), refused) // each time the pause is longer
	w.wantTries(tries + 1)
	w.Clock.Add(25 * time.Hour)
	words = ""
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// A refused merge is tried again once when the forge reports that it would merge now. If it refuses nevertheless, it is not asked
// again before anything else differs.
func TestReconcile_refusedMergeIsTriedOnceWhenReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	words := "A conversation must be resolved"
	w.Forge.Secret = func(int) string { return words }
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	refused := "merge: blocked the forge refused the merge: A conversation must be resolved"
	w.wantGates(w.run(), refused)
	tries := w.tries()
	w.wantGates(w.run(), refused)
	w.wantTries(tries)
	w.Forge.Mergeable = true
	for range 3 {
		w.wantGates(w.run(), refused)
		w.wantTries(tries + 1)
	}
	w.Clock.Add(time.Minute)
	w.Forge.Check(w.pull(2).Head.Commit, "lint", scm.CheckPassed)
	for range 3 {
		w.run()
	}
	if tries, before := w.tries(), tries+1; tries == before {
		t.Error("it was not tried again after a check")
	}
	tries = w.tries()
	w.wantGates(w.run(), refused)
	w.wantTries(tries)
	words = ""
	w.Clock.Add(25 * time.Hour)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// A refused merge is tried again as soon as anything differs from what was read before the attempt, once for each
// difference: without any time in between, and for what happened while it was refused.
func TestReconcile_refusedMergeIsTriedWhenAnythingDiffers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, times int){
		"a review":  func(w *world, _ int) { w.Forge.Review(2, "ada", scm.Approved) },
		"a comment": func(w *world, _ int) { w.Forge.Review(2, "ada", scm.Commented) },
		"a check": func(w *world, times int) {
			w.Forge.Check(w.pull(2).Head.Commit, fmt.Sprint("lint", times), scm.CheckPassed)
		},
		"the base moves": func(w *world, times int) {
			edit := func(all map[string]string) { all["README"] = fmt.Sprint(times) }
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Elsewhere", edit)
		},
		"a conversation": func(w *world, _ int) { w.Forge.Converse(2) },
		"a user asks":    func(w *world, _ int) { w.comment(2, "cho", "/promoter refresh") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			during, last, lifted := false, false, false
			w.Forge.Secret = func(int) string {
				if lifted {
					return ""
				}
				lifted = last // this one is refused although it changed just now
				return "Not yet"
			}
			w.Forge.Effect = func(before bool, what string) error {
				if before && what == "merge" && during {
					during, last = false, true
					change(w, 2)
				}
				return nil
			}
			w.mergeByHand(1, "merge")
			w.run()
			tries := w.tries()
			w.run()
			w.wantTries(tries)
			change(w, 1)
			during = true
			w.run()
			if during {
				t.Fatal("it was not tried again")
			}
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// Where the forge has no place for a status, the description of the pull request remembers
// the refused merge of its head.
func TestReconcile_refusedMergeWithoutStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Forge.NoPipelines = true
	words := "A conversation --> must be <!-- resolved, @ada !12"
	w.Forge.Secret = func(int) string { return words }
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.run()
	w.wantTries(1)
	for range 3 {
		w.run()
		w.calm()
	}
	w.wantTries(1)
	w.Clock.Add(2 * time.Minute)
	w.Forge.Review(2, "ada", scm.Commented) // something changed
	w.run()
	w.wantTries(2)
	w.Clock.Add(4 * time.Minute)
	w.run()
	w.wantTries(2)
	w.pushAndRun(web, "1.2.0") // its base moves
	w.run()
	w.wantTries(3)
	w.mergeByHand(3, "merge") // another head
	w.run()
	w.run()
	w.wantTries(4)
	w.Clock.Add(25 * time.Hour)
	words = ""
	w.run()
	w.holds("prod", "1.2.0 1.0.0")
}

// The clock of this machine is ahead of the forge's: the push seems newer than the
// refusal.
func TestReconcile_refusedMergeDespiteClockSkew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Forge.Now = func() time.Time { return w.Clock.Now().Add(-time.Hour) }
	w.Forge.Secret = func(int) string { return "A conversation must be resolved" }
	w.pushAndRun(web, "1.1.0")
	w.mergeByHand(1, "merge")
	w.run()
	tries := w.tries()
	for range 3 {
		w.Clock.Add(time.Minute)
		w.run()
	}
	w.wantTries(tries)
	w.calm()
}

// Only a head that the forge reports as out of date is rebuilt: approvals survive a
// server error.
func TestReconcile_rebuildsOnlyWhatIsBehind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err     error
		rebuilt bool
	}{
		"accident":  {fault.New(fault.Temporary, "502 Bad Gateway"), false},
		"computing": {fault.New(fault.Temporary, "still computing"), false},
		"behind":    {fault.New(fault.Temporary, "%w", scm.ErrBehind), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readyToMerge(t)
			w.Forge.Review(2, "ada", scm.Approved)
			head := w.pull(2).Head.Commit
			w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Elsewhere", func(all map[string]string) { all["README"] = "x" })
			w.Forge.Effect = func(before bool, what string) error {
				if before && what == "merge" {
					return test.err
				}
				return nil
			}
			w.run()
			w.Forge.Effect = nil
			if rebuilt := w.pull(2).Head.Commit != head; rebuilt != test.rebuilt {
				t.Errorf("rebuilt: %v, want %v", rebuilt, test.rebuilt)
			}
			w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
		})
	}
}

// No merge is tried that fails because the head must be up to date.
func TestReconcile_headMustBeCurrent(t *testing.T) {
	t.Parallel()
	w := protected(t, "", scm.Rules{Current: true, Checks: []string{"ci"}})
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Elsewhere", func(all map[string]string) { all["README"] = "x" })
	w.wantGates(w.run(), "protection check ci: waiting")
	head := w.pull(2).Head.Commit
	w.Forge.Check(head, "ci", scm.CheckPassed)
	w.run()
	if w.pull(2).Head.Commit == head {
		t.Fatal("the head is as it was")
	}
	w.wantTries(0)
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	w.wantTries(1)
}

func TestReconcile_approvalsThatDoNotCount(t *testing.T) {
	t.Parallel()
	w := protected(t, ", gates: {approvals: {count: 1}}", scm.Rules{Approvals: 1})
	w.Forge.Review(2, reconciletest.Bot.Login, scm.Approved)
	own := "; the approval of promoter-bot does not count: it is promoter's own"
	w.wantGates(w.run(), "approvals: waiting (0 of 1) not approved yet"+own, "protection approvals: waiting (0 of 1) main requires 1 approval"+own)
	w.Forge.Review(2, "carol", scm.Approved)
	w.Forge.Rename("carol", identity.User{})
	w.wantGates(w.run(), "approvals: waiting (0 of 1) not approved yet; the approval of a deleted account does not count: they may not write to the repository"+
		strings.ReplaceAll(own, "; ", ", "), "protection approvals: waiting (0 of 1) main requires 1 approval"+own)
}

// What was approved lands only while those who approved it may: members of a team, with an account
// of the forge, who did not request it.
func TestReconcile_approversChangeBeforeTheMerge(t *testing.T) {
	t.Parallel()
	account := func(id, login string) identity.User {
		return identity.User{Host: "forge.example", ID: id, Login: login}
	}
	for name, test := range map[string]struct {
		from   string // who may approve
		change func(w *world)
		lands  bool
	}{
		"nothing changes":                  {"team:acme/carol", func(*world) {}, true},
		"the approver left the team":       {"team:acme/carol", func(w *world) { w.Forge.Left = map[string]bool{"carol": true} }, false},
		"the approver left, and is back":   {"team:acme/carol", func(w *world) { w.Forge.Left = map[string]bool{"carol": true}; w.run(); w.Forge.Left = nil }, true},
		"the approver was deleted":         {"carol", func(w *world) { w.Forge.Rename("carol", identity.User{}) }, false},
		"the name of all deleted accounts": {"carol", func(w *world) { w.Forge.Rename("carol", account("10137", "ghost")) }, false},
		"the approver was renamed":         {"carol", func(w *world) { w.Forge.Rename("carol", account("3", "caroline")) }, false},
		"an account with a similar name":   {"carol", func(w *world) { w.Forge.Rename("carol", account("4", "car\u043el")) }, false},
		"the name in another case":         {"carol", func(w *world) { w.Forge.Rename("carol", account("3", "Carol")) }, true},
		"the approver became a bot": {"carol", func(w *world) {
			w.Forge.Rename("carol", identity.User{Host: "forge.example", Login: "carol", Bot: true})
		}, false},
		"the account is promoter's": {"carol", func(w *world) { w.Forge.Rename("carol", reconciletest.Bot) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := protected(t, `, gates: {approvals: {count: 1, from: ["`+test.from+`"]}, checks: [ci]}`, scm.Rules{})
			w.Forge.Review(2, "carol", scm.Approved)
			w.run()
			test.change(w)
			w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
			w.run()
			want := "1.0.0 1.0.0"
			if test.lands {
				want = "1.1.0 1.0.0"
			}
			w.holds("prod", want)
		})
	}
}

// Rules are read once for each branch, and only where promoter merges.
func TestReconcile_rulesAreReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.run()
	w.pushAndRun(web, "1.1.0")
	if n := w.Forge.Calls["rules"]; n != 0 {
		t.Errorf("read %d times although people merge", n)
	}
	many := many(t, 3, "automerge")
	many.Forge.Protected = map[string]scm.Rules{"main": {Approvals: 1}}
	many.push(web, "1.1.0")
	many.run()
	clear(many.Forge.Calls)
	many.run()
	if n := many.Forge.Calls["rules"]; n != 1 {
		t.Errorf("read %d times for three pull requests of one branch", n)
	}
}

// A forge that requires signatures on all branches accepts no branch of ours: the reason is
// reported before a push is tried.
func TestReconcile_headsMustBeSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Forge.SignedHeads = true
	w.push(web, "1.1.0")
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil || !report.Failed() {
		t.Fatalf("%v, failed: %v", err, report.Failed())
	}
	found := slices.ContainsFunc(report.Effects, func(e outcome.Effect) bool {
		return e.Err != nil && strings.Contains(e.Err.Error(), "a ruleset requires signed commits on promoter/staging/shop")
	})
	if !found {
		t.Errorf("effects: %+v", report.Effects)
	}
	w.wantPulls()
	w.Forge.SignedHeads = false
	w.run()
	w.wantPulls("promoter/staging/shop open")
}

// While the rules cannot be read, nothing is done that they concern. Without permission
// to read them, promoter tries.
func TestReconcile_rulesCannotBeRead(t *testing.T) {
	t.Parallel()
	for kind, merged := range map[fault.Kind]bool{fault.Temporary: false, fault.Unauthorized: true, fault.NotFound: true} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := readyToMerge(t)
			w.failing("rules", fault.New(kind, "no"))
			report, err := w.Reconciler().Reconcile(t.Context())
			if err != nil || report.Failed() == merged {
				t.Errorf("%v, failed: %v", err, report.Failed())
			}
			want := "1.0.0 1.0.0"
			if merged {
				want = "1.1.0 1.0.0"
			}
			w.holds("prod", want)
		})
	}
}
