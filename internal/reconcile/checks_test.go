package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

// tested is a config in which staging gets what passed e2e in dev.
const tested = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: {dev: {checks: ["e2e*"]}}, land: push}
`

// document commits to main what is no version, and returns the commit.
func (w *world) document() string {
	w.Clock.Add(time.Minute)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Document", func(all map[string]string) {
		all["README.md"] += w.Clock.Now().String() + "\n"
	})
	return w.Git.Branch("main")
}

// Several applications land in one push, and the system that runs checks tests only its last commit.
func TestChecks_ofTheLastCommitOfAPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tested)
	services := []string{"blog", "cart", "shop"}
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Services", func(all map[string]string) {
		for _, service := range services {
			for _, environment := range []string{"dev", "staging"} {
				all[environment+"/"+service+".txt"] = line(web, "1.0.0") + "\n"
			}
		}
	})
	before := w.Git.Branch("main")
	wantReason(t, w.pushAndRun(web, "1.1.0"), "staging", "waiting", "dev check e2e*: not reported yet")
	head := w.Git.Branch("main")
	if commit, err := w.Git.Objects().Commit(head); err != nil || commit.Parents[0] == before {
		t.Fatal("the applications landed in one commit", err)
	}
	w.Forge.Check(head, "e2e", scm.CheckPassed)
	w.run()
	for _, service := range services {
		if got := w.Git.FilesOf(w.Git.Branch("main"))["staging/"+service+".txt"]; got != line(web, "1.1.0")+"\n" {
			t.Errorf("staging has %s of %s", got, service)
		}
	}
	w.calm()
}

// A push cancels the run of the push before: the run of the later commit is about the same versions.
func TestChecks_ofARunThatTheNextPushCanceled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tested)
	w.pushAndRun(web, "1.1.0")
	landed := w.Git.Branch("main")
	w.Forge.End(landed, "e2e", scm.CheckFailed)
	wantReason(t, w.run(), "staging", "waiting", "e2e ended without a result: run it again")
	later := w.document()
	w.Forge.End(later, "e2e", scm.CheckPassed) // skipped: nothing that it tests changed
	wantReason(t, w.run(), "staging", "waiting", "e2e ended without a result")
	w.Forge.Check(w.document(), "e2e", scm.CheckFailed)
	wantReason(t, w.run(), "staging", "waiting", "e2e failed")
	w.Forge.Check(later, "e2e", scm.CheckPassed)
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.calm()
}

// A skipped run is no result as long as another commit has one: a forge skips a run whose needs the next push canceled.
func TestChecks_ofARunThatWasSkipped(t *testing.T) {
	t.Parallel()
	for pattern, canceled := range map[string]string{"e2e": "build", "*": "build", "e2*": "lint"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.Replace(tested, "e2e*", pattern, 1))
			w.pushAndRun(web, "1.1.0")
			landed := w.Git.Branch("main")
			w.Forge.Check(landed, "docs", scm.CheckPassed)
			w.Forge.End(landed, canceled, scm.CheckFailed)
			w.Forge.End(landed, "e2e", scm.CheckPassed)
			later := w.document()
			w.Forge.Check(later, "docs", scm.CheckPassed)
			w.Forge.Check(later, canceled, scm.CheckPending)
			w.run()
			w.holds("staging", "1.0.0 1.0.0")
			w.Forge.Check(later, canceled, scm.CheckPassed)
			w.Forge.Check(later, "e2e", scm.CheckFailed)
			wantReason(t, w.run(), "staging", "waiting", "e2e failed")
			w.Forge.Check(w.document(), "e2e", scm.CheckPassed)
			w.run()
			w.holds("staging", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// A run that its system skips on all commits is not needed.
func TestChecks_ofARunThatIsAlwaysSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(tested, "e2e*", "*", 1))
	w.pushAndRun(web, "1.1.0")
	landed := w.Git.Branch("main")
	for _, commit := range []string{landed, w.document()} {
		w.Forge.Check(commit, "lint", scm.CheckPassed)
		w.Forge.End(commit, "e2e", scm.CheckPassed)
	}
	before := w.Forge.Calls["checks"]
	w.run()
	if n := w.Forge.Calls["checks"] - before; n != 2 {
		t.Errorf("%d commits were asked", n)
	}
	w.holds("staging", "1.1.0 1.0.0")
	w.calm()
}

// What a later commit passes with other versions is no result of those that it replaced.
func TestChecks_endWithTheirPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tested)
	w.pushAndRun(web, "1.1.0")
	landed := w.Git.Branch("main")
	w.Forge.Check(landed, "e2e", scm.CheckFailed)
	w.document()
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0")+"\n"+line(web, "1.1.0")) // no snapshot
	w.Forge.Check(w.Git.Branch("main"), "e2e", scm.CheckPassed)
	w.run()
	w.push(web, "1.2.0")
	w.byHand("main", "dev", line(web, "1.0.0")+"\n"+line(web, "1.1.0"), line(web, "1.2.0"))
	wantReason(t, w.run(), "staging", "waiting", "dev check e2e*: not reported yet")
	w.Forge.Check(w.Git.Branch("main"), "e2e", scm.CheckFailed)
	wantReason(t, w.run(), "staging", "waiting", "e2e failed")
	w.holds("staging", "1.0.0 1.0.0")
	w.calm()
}

// Where nothing is tested, a bounded number of commits is asked: the one that landed, the newest, and those after it. With
// a result on the one that landed, no other is.
func TestChecks_askFewCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tested)
	w.pushAndRun(web, "1.1.0")
	var commits []string
	for range 20 {
		commits = append(commits, w.document())
	}
	requests := func() int {
		before := w.Forge.Calls["checks"]
		w.run()
		return w.Forge.Calls["checks"] - before
	}
	if n := requests(); n != 1+5+4 {
		t.Errorf("%d commits were asked", n)
	}
	w.Forge.Check(commits[10], "e2e", scm.CheckPassed)
	wantReason(t, w.run(), "staging", "waiting", "not reported yet")
	for _, i := range []int{3, 15} { // just after the landing, or among the newest
		if i == 15 {
			w.pushAndRun(web, "1.2.0")
			for i := range commits {
				commits[i] = w.document()
			}
		}
		w.Forge.Check(commits[i], "e2e", scm.CheckPassed)
		w.run()
		w.holds("staging", fmt.Sprintf("1.%d.0 1.0.0", 1+i/15))
	}
	w = newWorld(t, tested)
	w.pushAndRun(web, "1.1.0")
	w.Forge.Check(w.Git.Branch("main"), "e2e", scm.CheckPassed)
	w.document()
	if n := requests(); n != 1 {
		t.Errorf("%d commits were asked", n)
	}
	w.holds("staging", "1.1.0 1.0.0")
}

// Health by a check belongs to what landed as well.
func TestHealth_ofTheNewestFinishedCheck(t *testing.T) {
	t.Parallel()
	config := strings.NewReplacer("land: push}\n  staging", "land: push, health: {check: smoke, timeout: 15m}}\n  staging",
		`checks: ["e2e*"]`, "healthy: true").Replace(tested)
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.waits(w.reconcile(), "staging", "dev healthy: no source has reported")
	w.Forge.End(w.Git.Branch("main"), "smoke", scm.CheckFailed) // canceled
	w.waits(w.reconcile(), "staging", "dev healthy: Progressing")
	for range 7 {
		w.document()
	}
	passed := w.document()
	w.Forge.Check(passed, "smoke", scm.CheckPassed)
	w.Forge.Check(w.document(), "smoke", scm.CheckPending)
	w.Forge.Check(w.document(), "smoke", scm.CheckFailed)
	w.document()
	report := w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
	for _, d := range report.Decisions {
		if d.Environment == "dev" && (d.Health == nil || d.Health.Status != health.Healthy) {
			t.Errorf("dev is %+v", d.Health)
		}
	}
}

// What files that are no snapshot passed does not hide what a past landing passed.
func TestHealth_ofAPastLandingEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	config := strings.NewReplacer("land: push}\n  staging", "land: push, health: {check: smoke, timeout: 15m}}\n  staging",
		`checks: ["e2e*"]`, "healthy: true").Replace(tested)
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.reconcile()
	w.Forge.End(w.Git.Branch("main"), "smoke", scm.CheckFailed) // canceled
	passed := w.document()
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0")+"\n"+line(web, "1.1.0")) // no snapshot
	w.Forge.Check(w.Git.Branch("main"), "smoke", scm.CheckPassed)
	w.reconcile()
	w.push(web, "1.2.0")
	w.byHand("main", "dev", line(web, "1.0.0")+"\n"+line(web, "1.1.0"), line(web, "1.2.0"))
	w.reconcile()
	w.holds("staging", "1.0.0 1.0.0")
	w.Forge.Check(passed, "smoke", scm.CheckPassed)
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
}
