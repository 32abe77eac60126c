package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// followedAfterSoak is a config in which users merge in staging, and prod follows after some seconds.
const followedAfterSoak = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  staging: {paths: ["staging/{application}.txt"], land: pr}
  prod: {paths: ["prod/{application}.txt"], after: {staging: {soak: 6s}}, land: automerge}
`

// rollBack records a rollback of an environment to its previous versions, as a user does.
func (w *world) rollBack(environment string) state.RolledBack {
	w.t.Helper()
	target := promotion.Target(in(environment))
	earlier, err := before(w.t, w.Reconciler(), target, "")
	if err != nil {
		w.t.Fatal(err)
	}
	back := state.RolledBack{Act: w.act("slow"), Images: map[string]string{}, From: earlier.Left, Commit: earlier.Commit}
	for component, pinned := range earlier.Snapshot {
		back.Images[component] = pinned.Reference()
	}
	w.decide(state.Rollback(state.Target(target), back))
	return back
}

// soaked is a world in which staging has web 1.1.0, and prod gets it within seconds.
func soaked(t *testing.T, config string) *world {
	t.Helper()
	w := newWorld(t, config)
	w.pushAndRun(web, "1.1.0")
	if w.pull(1).State == scm.StateOpen {
		w.mergeByHand(1, "merge")
		w.run()
	}
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
	w.Clock.Add(5 * time.Second)
	return w
}

// What staging is leaving does not go to prod, neither before nor after the rollback is there.
func TestRollback_goesNoFurtherDownstream(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"users merge the rollback":       followedAfterSoak,
		"promoter merges the rollback":   strings.Replace(followedAfterSoak, "land: pr}", "land: automerge}", 1),
		"promoter pushes the rollback":   strings.Replace(followedAfterSoak, "land: pr}", "land: push}", 1),
		"promoter pushes everywhere":     strings.NewReplacer("land: pr}", "land: push}", "land: automerge}", "land: push}").Replace(followedAfterSoak),
		"the environments share a group": strings.ReplaceAll(followedAfterSoak, "land: automerge}", "land: automerge, pullRequest: {group: environment}}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
			w.pushAndRun(web, "1.1.0")
			if len(w.Forge.All()) > 0 && w.pull(1).State == scm.StateOpen {
				w.mergeByHand(1, "merge")
				w.run()
			}
			w.holds("staging", "1.1.0 1.0.0")
			w.Clock.Add(5 * time.Second)
			w.rollBack("staging")
			w.Clock.Add(5 * time.Second)
			report := w.run()
			w.holds("prod", "1.0.0 1.0.0")
			if strings.Contains(config, "land: pr}") {
				wantReason(t, report, "prod", "rejected: web 1.1.0 was rolled back in staging by ada on 2026-11-18: slow")
				w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop open")
				w.calm()
				w.mergeByHand(2, "merge")
			}
			for range 3 {
				w.Clock.Add(time.Hour)
				w.run()
			}
			w.holds("staging", "1.0.0 1.0.0")
			w.holds("prod", "1.0.0 1.0.0")
			w.calm()
		})
	}
}

// An open pull request downstream is closed with the reason, and opened again when the rollback ends.
func TestRollback_closesPullRequestsDownstream(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"automatic": strings.Replace(followedAfterSoak, "land: automerge}", "land: pr}", 1),
		"requested": strings.Replace(followedAfterSoak, "land: automerge}", "land: pr, propose: manual}", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soaked(t, config)
			w.decide(state.AddRequest(in("prod"), state.Request{Act: w.act("")}))
			w.Clock.Add(5 * time.Second)
			w.run()
			w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
			w.rollBack("staging")
			w.run()
			w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop closed", "promoter/staging/shop open")
			closed := w.Forge.CommentsOf(2)
			if len(closed) == 0 || !strings.Contains(closed[len(closed)-1].Body, "web 1.1.0 was rolled back in staging") {
				t.Errorf("the reason of the close is %v", closed)
			}
			w.calm()
			w.Clock.Add(time.Minute)
			w.decide(state.Resume(in("staging"), w.act("")))
			w.run()
			w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop closed", "promoter/staging/shop closed", "promoter/prod/shop open")
			w.calm()
		})
	}
}

// A newer version goes on, once the rollback is resumed.
func TestRollback_resumeEndsWhatItKeepsOut(t *testing.T) {
	t.Parallel()
	w := soaked(t, strings.Replace(followedAfterSoak, "land: pr}", "land: automerge}", 1))
	w.rollBack("staging")
	w.run()
	w.holds("staging", "1.0.0 1.0.0")
	w.push(web, "1.2.0")
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("staging"), w.act("")))
	w.run()
	w.holds("staging", "1.2.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.run()
	w.holds("prod", "1.2.0 1.0.0")
}

// A user who closes the pull request of a rollback cancels it, with what it keeps out, and keeps the hold. It is
// not opened again, and rejects nothing.
func TestRollback_closeCancelsIt(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"alone": followedAfterSoak,
		"group": strings.Replace(followedAfterSoak, "land: pr}", "land: pr, pullRequest: {group: environment}}", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soaked(t, config)
			w.rollBack("staging")
			w.Clock.Add(time.Minute)
			w.run()
			w.holds("prod", "1.0.0 1.0.0")
			w.Clock.Add(time.Minute)
			w.Forge.CloseByHand(2, "ada")
			w.run()
			record := w.state().At(in("staging"))
			if record.Rollback != nil || record.Hold == nil || len(record.Rejections) > 0 {
				t.Errorf("staging has %+v", record)
			}
			w.holds("staging", "1.1.0 1.0.0")
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
			if w.pull(2).State != scm.StateClosed || len(w.Forge.All()) != 3 {
				t.Errorf("pull requests: %v", w.pulls())
			}
			// Another rollback to the same versions is another one.
			w.Clock.Add(time.Minute)
			w.decide(state.Resume(in("prod"), w.act("")))
			w.rollBack("staging")
			w.run()
			if n := len(w.Forge.All()); n != 4 || w.pull(4).State != scm.StateOpen {
				t.Errorf("pull requests: %v", w.pulls())
			}
		})
	}
}

// A deleted branch brings the pull request of a rollback back once. The second time, the rollback is canceled.
func TestRollback_deletedTwiceIsCanceled(t *testing.T) {
	t.Parallel()
	w := soaked(t, followedAfterSoak)
	w.rollBack("staging")
	w.run()
	for range 2 {
		w.Clock.Add(time.Minute)
		w.Git.Set("promoter/staging/shop", "")
		w.run()
	}
	record := w.state().At(in("staging"))
	if record.Rollback != nil || record.Hold == nil {
		t.Errorf("staging has %+v", record)
	}
	w.calm()
}

// A close by promoter itself cancels nothing: here the files had the versions for a moment.
func TestRollback_ownCloseCancelsNothing(t *testing.T) {
	t.Parallel()
	w := soaked(t, followedAfterSoak)
	w.rollBack("staging")
	w.run()
	w.byHand("main", "staging", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/staging/shop closed")
	w.Clock.Add(time.Minute)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	if w.state().At(in("staging")).Rollback == nil {
		t.Error("the rollback is gone")
	}
}

// What dev is leaving goes from staging, which keeps it, no further.
func TestRollback_keepsGrandchildrenOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.NewReplacer("after: [dev]}", "after: [dev], land: push}", "after: [staging]", "after: {staging: {soak: 1h}}").Replace(threeEnvironments))
	w.pushAndRun(web, "1.1.0")
	w.holds("staging", "1.1.0 1.0.0")
	w.rollBack("dev")
	w.run()
	w.holds("dev", "1.0.0 1.0.0")
	w.Clock.Add(2 * time.Hour)
	report := w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
	wantReason(t, report, "prod", "rejected: web 1.1.0 was rolled back in dev")
	w.calm()
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("dev"), w.act("")))
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

// A user who names the version after the rollback gets it. A request from before, one that names none, and one of a
// pipeline wait.
func TestRollback_laterRequestNamesTheVersion(t *testing.T) {
	t.Parallel()
	with := []string{web + ":1.1.0"}
	for name, one := range map[string]struct {
		request func(act state.Act) state.Request
		before  bool
		holds   string
	}{
		"named later":   {func(act state.Act) state.Request { return state.Request{Act: act, With: with} }, false, "1.1.0 1.0.0"},
		"named before":  {func(act state.Act) state.Request { return state.Request{Act: act, With: with} }, true, "1.0.0 1.0.0"},
		"not named":     {func(act state.Act) state.Request { return state.Request{Act: act} }, false, "1.0.0 1.0.0"},
		"by a pipeline": {func(act state.Act) state.Request { return state.Request{Act: act, With: with, Posted: "run-1"} }, false, "1.0.0 1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := soaked(t, followedAfterSoak)
			if one.before {
				w.decide(state.AddRequest(in("prod"), one.request(w.act(""))))
			}
			w.Clock.Add(500 * time.Millisecond)
			w.rollBack("staging")
			w.Clock.Add(time.Minute)
			if !one.before {
				w.decide(state.AddRequest(in("prod"), one.request(w.act(""))))
			}
			report := w.run()
			w.holds("prod", one.holds)
			if one.holds == "1.0.0 1.0.0" {
				wantReason(t, report, "prod", "web 1.1.0 was rolled back in staging")
			}
			w.calm()
		})
	}
}

// The previous versions downstream are none that are left upstream. An earlier rollback to them waits.
func TestRollback_neverReturnsToWhatIsLeftUpstream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Land by push", func(all map[string]string) {
		all[".promoter.yaml"] = strings.NewReplacer("after: [dev]}", "after: [dev], land: push}", "land: automerge", "land: push").Replace(threeEnvironments)
	})
	w.pushAndRun(web, "1.1.0")
	w.Clock.Add(time.Minute)
	w.pushAndRun(web, "1.2.0")
	w.Clock.Add(time.Minute)
	w.rollBack("dev") // to 1.1.0
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(state.Reject(in("dev"), state.Rejection{Act: w.act(""), Images: map[string]string{"web": line(web, "1.1.0")}}))
	w.rollBack("dev") // to 1.0.0
	w.run()
	w.holds("dev", "1.0.0 1.0.0")
	if from := w.state().At(in("dev")).Rollback.From; strings.Join(from, " ") != line(web, "1.1.0")+" "+line(web, "1.2.0") {
		t.Errorf("dev leaves %v", from)
	}
	before, err := previousSnapshot(t, w.Reconciler(), promotion.Target(in("prod")))
	if err != nil || before["web"].Version.Tag != "1.0.0" {
		t.Errorf("prod would return to %v, %v", before, err)
	}
}

// Rollbacks that are recorded together are carried out together, also if the process ends in between.
func TestRollback_downstreamAfterACrash(t *testing.T) {
	t.Parallel()
	w := soaked(t, strings.Replace(followedAfterSoak, "land: automerge}", "land: pr}", 1))
	w.Clock.Add(time.Minute)
	w.run()
	w.mergeByHand(2, "merge")
	w.run()
	w.Clock.Add(time.Minute)
	past, err := w.Reconciler().Past(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var changes []state.Change
	for _, environment := range []string{"staging", "prod"} {
		earlier, err := past.Before(t.Context(), promotion.Target(in(environment)), "")
		if err != nil {
			t.Fatal(err)
		}
		back := state.RolledBack{Act: w.act("slow"), Images: map[string]string{}, From: earlier.Left, Commit: earlier.Commit}
		for component, pinned := range earlier.Snapshot {
			back.Images[component] = pinned.Reference()
		}
		changes = append(changes, state.Rollback(in(environment), back))
		past = past.With(changes...)
	}
	w.decide(changes...)
	created := 0
	w.Forge.Effect = func(before bool, what string) error {
		if before && what == "create" {
			if created++; created > 1 {
				panic("the process ends")
			}
		}
		return nil
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = w.Reconciler().Reconcile(t.Context())
	}()
	w.Forge.Effect = nil
	w.run()
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop merged", "promoter/staging/shop open", "promoter/prod/shop open")
	w.mergeByHand(3, "merge")
	w.mergeByHand(4, "merge")
	w.run()
	w.holds("staging", "1.0.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
	w.calm()
}

// What promoter itself rolled back goes no further either, after the rollback is there, until a resume.
func TestHealth_whatItRolledBackGoesNoFurther(t *testing.T) {
	t.Parallel()
	config := strings.NewReplacer("    health: {argocd: [\"{application}-staging\"], from: argo}\n", "", "timeout: 15m", "timeout: 15m, onFailure: rollback", "{dev: {healthy: true}}", "[dev]",
		"after: {staging: {healthy: true}}", "after: {staging: {soak: 1h}}").Replace(monitored)
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
	w.reports("shop-dev", health.Degraded, "", "pods crash")
	w.reconcile()
	w.Clock.Add(16 * time.Minute)
	w.reconcile()
	w.holds("dev", "1.0.0 1.0.0")
	w.Clock.Add(2 * time.Hour)
	report := w.reconcile()
	w.holds("prod", "1.0.0 1.0.0")
	wantReason(t, report, "prod", "web 1.1.0 was rolled back in dev by promoter")
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("dev"), w.act("")))
	w.reconcile()
	w.holds("prod", "1.1.0 1.0.0")
}
