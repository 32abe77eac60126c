package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/promotion/engine/enginetest"
	"promoter/internal/scm"
)

// The whole way of one image: pushed to dev, a pull request for staging, merged by
// hand, merged by promoter into prod.
func TestReconcile_wholeWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.calm()
	w.push(web, "1.1.0")
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
	w.holds("staging", "1.0.0 1.0.0")
	w.wantPulls("promoter/staging/shop open")
	w.calm()
	w.mergeByHand(1, "merge")
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.1.0 1.0.0")
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged")
	w.calm()
	if branches := w.Git.Branches(); len(branches) > 2 {
		t.Errorf("branches that served are left: %v", branches)
	}
}

func TestReconcile_P01_newerWhileOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	before := w.pull(1)
	w.push(web, "1.2.0")
	w.run()
	after := w.pull(1)
	w.wantPulls("promoter/staging/shop open")
	if before.Title == after.Title || before.Body == after.Body || before.Head.Commit == after.Head.Commit {
		t.Errorf("it was not refreshed: %q, %q", before.Title, after.Title)
	}
	if !strings.Contains(after.Title, "1.2.0") {
		t.Errorf("the title is %q", after.Title)
	}
	w.calm()
}

func TestReconcile_P02_personPushed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.byHand("promoter/staging/shop", "staging", "1.0.0", "1.0.9")
	mine := w.Git.Branch("promoter/staging/shop")
	w.push(web, "1.2.0")
	w.run()
	w.calm()
	if w.Git.Branch("promoter/staging/shop") != mine {
		t.Error("a person's commit was overwritten")
	}
	if comments := w.Forge.CommentsOf(1); len(comments) != 1 {
		t.Errorf("it was said %d times", len(comments))
	}
	w.wantPulls("promoter/staging/shop open")
}

func TestReconcile_P03_closedByPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.Forge.CloseByHand(1, "ada")
	report := w.run()
	wantReason(t, report, "staging", "rejected", "ada")
	w.wantPulls("promoter/staging/shop closed")
	w.calm()
	w.push(web, "1.2.0")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
}

func TestReconcile_P03_branchDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.Git.Set("promoter/staging/shop", "")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
	w.Git.Set("promoter/staging/shop", "")
	report := w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop closed")
	wantReason(t, report, "staging", "held", "deleted")
	w.calm()
}

func TestReconcile_P03_ourOwnClosing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged")
	w.calm()
	w.push(web, "1.2.0")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged", "promoter/staging/shop open")
}

func TestReconcile_P04_mergedByHand(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase", "bare squash"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(config, "after: [staging]", "after: {staging: {soak: 1h}}"))
			w.Forge.Bare = method == "bare squash"
			w.push(web, "1.1.0")
			w.run()
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

func TestReconcile_P05_headMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	moved := false
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "merge" && !moved {
			moved = true
			w.Git.Commit("promoter/prod/shop", enginetest.Human, w.Clock.Now(), "slip", func(all map[string]string) { all["evil"] = "x" })
		}
		return nil
	}
	w.run()
	if !moved || w.Git.FilesOf(w.Git.Branch("main"))["evil"] != "" {
		t.Error("a commit slipped in was merged")
	}
	w.holds("prod", "1.0.0 1.0.0")
}

func TestReconcile_P06_lostAnswers(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"create", "merge", "status", "edit"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
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
				_, _ = w.Lane().Reconcile(t.Context())
			}
			if len(w.Forge.All()) == 1 && w.pull(1).State == scm.StateOpen {
				w.mergeByHand(1, "merge")
			}
			for range 3 {
				_, _ = w.Lane().Reconcile(t.Context())
			}
			w.holds("prod", "1.1.0 1.0.0")
			w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged")
			w.calm()
		})
	}
}

func TestReconcile_P08_baseMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	head := w.Git.Branch("promoter/staging/shop")
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "elsewhere", func(all map[string]string) { all["README.md"] = "hello" })
	w.run()
	if w.Git.Branch("promoter/staging/shop") != head {
		t.Error("pushed although the base moved in other files only")
	}
	w.byHand("main", "staging", line(worker, "1.0.0"), "# moved\n"+line(worker, "1.0.0"))
	w.run()
	if w.Git.Branch("promoter/staging/shop") == head {
		t.Error("not rebuilt although the base moved in a touched file")
	}
	w.calm()
}

func TestReconcile_P10_madeByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.byHand("main", "staging", line(web, "1.0.0"), line(web, "1.1.0"))
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged")
}

func TestReconcile_P11_revert(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	report := w.run()
	w.holds("dev", "1.0.0 1.0.0")
	wantReason(t, report, "dev", "reverted")
	w.calm()
	w.push(web, "1.2.0")
	w.run()
	w.holds("dev", "1.2.0 1.0.0")
}

func TestReconcile_P14_wordsOfPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.Forge.Rewrite(1, "My title", "Before\n\n"+w.pull(1).Body+"\n\nAfter")
	w.calm()
	w.push(web, "1.2.0")
	w.run()
	pr := w.pull(1)
	if pr.Title != "My title" || !strings.HasPrefix(pr.Body, "Before") || !strings.HasSuffix(pr.Body, "After") || !strings.Contains(pr.Body, "1.2.0") {
		t.Errorf("title %q, body\n%s", pr.Title, pr.Body)
	}
}

func TestReconcile_T01_fork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.Git.Commit("fork", enginetest.Human, w.Clock.Now(), "x", func(all map[string]string) { all["staging/shop.txt"] = "evil" })
	fork := w.Forge.ByHand("mallory", "promoter/staging/shop", "main", false)
	w.push(web, "1.1.0")
	w.run()
	if w.pull(fork).State != scm.StateOpen || len(w.Forge.All()) != 2 {
		t.Errorf("pull requests: %v", w.pulls())
	}
}

func TestReconcile_T03_T04_slippedCommit(t *testing.T) {
	t.Parallel()
	gated := strings.ReplaceAll(config, "land: automerge}", "land: automerge, gates: {checks: [ci]}}")
	w := newWorld(t, gated)
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	w.run()
	// Somebody who commits under our name.
	w.Git.Commit("promoter/prod/shop", enginetest.By, w.Clock.Now(), w.messageOf("promoter/prod/shop"), func(all map[string]string) { all["evil"] = "x" })
	w.Forge.Check(w.Git.Branch("promoter/prod/shop"), "ci", scm.CheckPassed)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	if w.Git.FilesOf(w.Git.Branch("promoter/prod/shop"))["evil"] != "" {
		t.Error("the slipped commit is still on the branch")
	}
	w.Forge.Check(w.Git.Branch("promoter/prod/shop"), "ci", scm.CheckPassed)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
	if w.Git.FilesOf(w.Git.Branch("main"))["evil"] != "" {
		t.Error("the slipped file landed")
	}
}

func (w *world) messageOf(branch string) string {
	commit, err := w.Git.Objects().Commit(w.Git.Branch(branch))
	if err != nil {
		w.t.Fatal(err)
	}
	return commit.Message
}

func TestReconcile_P12_ratedLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "create" {
			return fault.Limited(w.Clock.Now().Add(time.Hour), errLimited)
		}
		return nil
	}
	_, err := w.Lane().Reconcile(t.Context())
	if at, limited := fault.RetryAt(err); !limited || at.IsZero() {
		t.Errorf("error: %v", err)
	}
	w.Forge.Effect = nil
	w.run()
	w.wantPulls("promoter/staging/shop open")
}

var errLimited = fault.New(fault.RateLimited, "slow down")

func TestReconcile_P20_protected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	n := 0
	w.Git.Effect = func(before bool, updates []engine.Update) error {
		if before && updates[0].Branch == "main" {
			n++
			return fault.New(fault.Unauthorised, "protected branch hook declined")
		}
		return nil
	}
	report, err := w.Lane().Reconcile(t.Context())
	if err != nil || !report.Failed() || n != 1 {
		t.Fatalf("%v, %v, %d pushes", err, report.Failed(), n)
	}
	i := slices.IndexFunc(report.Done, func(d engine.Done) bool { return d.Err != nil })
	if got := report.Done[i]; fault.KindOf(got.Err) != fault.Unauthorised || !strings.Contains(got.Err.Error(), "declined") {
		t.Errorf("error: %v", got.Err)
	}
}

func TestReconcile_M15_twoRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	inner := false
	w.Git.Effect = func(before bool, _ []engine.Update) error {
		if before && !inner {
			inner = true // another process runs to its end just before our first push
			if _, err := w.Lane().Reconcile(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
	w.wantPulls("promoter/staging/shop open")
	w.Git.Effect = nil
	w.calm()
}

func TestReconcile_dryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	before := w.Git.Branches()
	lane := w.Lane()
	lane.DryRun = true
	report, err := lane.Reconcile(t.Context())
	if err != nil || w.Git.Pushes != 0 || len(w.Forge.All()) != 0 || len(before) != len(w.Git.Branches()) {
		t.Errorf("a dry run wrote: %v", err)
	}
	if len(report.Done) == 0 || report.Done[0].Step != promotion.StepPush {
		t.Errorf("it shows %+v", report.Done)
	}
}

func TestReconcile_idle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.run()
	w.Git.Listings, w.Git.Pushes = 0, 0
	clear(w.Forge.Calls)
	w.run()
	if w.Git.Listings != 1 || w.Git.Pushes != 0 {
		t.Errorf("an idle pass listed %d times and pushed %d times", w.Git.Listings, w.Git.Pushes)
	}
	if len(w.Forge.Calls) != 1 || w.Forge.Calls["list open"] != 1 {
		t.Errorf("an idle pass asked the forge %v", w.Forge.Calls)
	}
}
