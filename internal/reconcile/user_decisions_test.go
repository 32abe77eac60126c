package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// decide records user decisions.
func (w *world) decide(changes ...state.Change) {
	w.t.Helper()
	if _, err := w.Reconciler().Clients.StateBranch().Record(w.t.Context(), "A person decides", changes...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) act(why string) state.Act {
	return state.Act{By: identity.User{Login: "ada"}, At: w.Clock.Now(), Reason: why}
}

// A rollback goes back from the first landing of the current versions: what landed after
// it was rolled back. What users rejected is no candidate.
func TestPreviousSnapshot_neverReturnsToWhatWasRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	target := promotion.Target{Environment: "dev", Application: "shop"}
	previous := func() string {
		t.Helper()
		before, err := previousSnapshot(t, w.Reconciler(), target)
		if err != nil {
			return err.Error()
		}
		return before["web"].Version.Tag
	}
	for _, tag := range []string{"1.1.0", "1.2.0", "1.3.0", "1.4.0"} {
		w.pushAndRun(web, tag)
		w.Clock.Add(time.Minute)
	}
	before, err := previousSnapshot(t, w.Reconciler(), target)
	if err != nil || before["web"].Version.Tag != "1.3.0" {
		t.Fatalf("previous is %v, %v", before, err)
	}
	images := map[string]string{"web": before["web"].Reference(), "worker": before["worker"].Reference()}
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow"), Images: images}))
	w.run()
	w.holds("dev", "1.3.0 1.0.0")
	if got := previous(); got != "1.2.0" {
		t.Errorf("after the rollback: %s", got)
	}
	reject := func(tag string) {
		pinned := promotion.Pinned{Repository: before["web"].Repository, Version: image.Version{Tag: tag}}
		w.decide(state.Reject(in("dev"), state.Rejection{Act: w.act(""), Images: map[string]string{"web": pinned.Reference()}}))
	}
	reject("1.2.0")
	if got := previous(); got != "1.1.0" {
		t.Errorf("after a rejection: %s", got)
	}
	reject("1.1.0")
	if got := previous(); got != "1.0.0" {
		t.Errorf("before promoter: %s", got)
	}
	reject("1.0.0")
	if got := previous(); !strings.Contains(got, "the history of main has no earlier versions of shop in dev that were not rolled back, reverted, or rejected, and did not fail") {
		t.Errorf("with nothing left: %s", got)
	}
}

// A rollback needs no landing: it returns to what users wrote, too.
func TestBefore_whateverIsTheAuthor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	first := w.Git.Branch("main")
	w.pushAndRun(web, "1.1.0")
	target := promotion.Target{Environment: "dev", Application: "shop"}
	back := func(named string) string {
		t.Helper()
		earlier, err := before(t, w.Reconciler(), target, named)
		if err != nil {
			return err.Error()
		}
		return earlier.Snapshot["web"].Version.Tag
	}
	if got := back(""); got != "1.0.0" {
		t.Errorf("the previous state is %s", got)
	}
	w.byHand("main", "dev", line(web, "1.1.0"), web+":1.2.0")
	byHand := w.Git.Branch("main")
	w.byHand("main", "dev", web+":1.2.0", line(web, "1.3.0"))
	for named, want := range map[string]string{
		"": "1.2.0", byHand[:9]: "1.2.0", first: "1.0.0",
		w.Git.Branch("main"):    "shop in dev has the versions of commit",
		"58b5":                  "is neither a commit nor a snapshot: write at least 7 digits of its ID",
		"HEAD~1":                "is neither a commit nor a snapshot",
		"1234567":               "is neither a commit on main nor a snapshot that shop in dev had",
		"v1:1234567":            "is neither a commit on main nor a snapshot that shop in dev had",
		tagOnlyID(web, "1.2.0"): "1.2.0",
	} {
		if got := back(named); !strings.Contains(got, want) {
			t.Errorf("to %q: %s, want %s", named, got, want)
		}
	}
	// It is carried out, because the commit proves it.
	earlier, err := before(t, w.Reconciler(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	w.push(web, "1.2.0")
	images := map[string]string{"web": web + ":1.2.0@" + reconciletest.Digest("web 1.2.0")}
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow"), Images: images}))
	wantReason(t, w.run(), "dev", "which was never here")
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow"), Images: map[string]string{"web": web + ":9.9.9"}, Commit: earlier.Commit}))
	wantReason(t, w.run(), "dev", "which was never here")
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("slow"), Images: images, Commit: earlier.Commit}))
	w.run()
	w.holds("dev", "1.2.0 1.0.0")
	w.calm()
}

// tagOnlyID is the ID of the snapshot of dev with a tag without a digest.
func tagOnlyID(repository, tag string) string {
	parsed, _ := image.Parse(repository + ":" + tag)
	second, _ := image.Parse(line(worker, "1.0.0"))
	return promotion.Snapshot{
		"web":    {Repository: parsed.Repository, Version: image.Version{Tag: tag}},
		"worker": {Repository: second.Repository, Version: image.Version{Tag: second.Tag, Digest: second.Digest}},
	}.ID()
}

// previousSnapshot returns the versions to which a rollback would return.
func previousSnapshot(t *testing.T, r *reconcile.Reconciler, target promotion.Target) (promotion.Snapshot, error) {
	t.Helper()
	earlier, err := before(t, r, target, "")
	return earlier.Snapshot, err
}

// before returns the state to which a rollback would return.
func before(t *testing.T, r *reconcile.Reconciler, target promotion.Target, named string) (landing.Earlier, error) {
	t.Helper()
	past, err := r.Past(t.Context())
	if err != nil {
		return landing.Earlier{}, err
	}
	return past.Before(t.Context(), target, named)
}

func in(environment string) state.Target {
	return state.Target{Environment: environment, Application: "shop"}
}

func TestReconcile_freezeWhileAutomergeWaits(t *testing.T) {
	t.Parallel()
	w := merged(t, strings.ReplaceAll(threeEnvironments, "land: automerge}", "land: automerge, gates: {checks: [ci]}}"))
	until := w.Clock.Now().Add(time.Hour)
	w.decide(state.Freeze("prod", w.act("release day"), &until))
	w.Forge.Check(w.pull(2).Head.Commit, "ci", scm.CheckPassed)
	report := w.run()
	wantReason(t, report, "prod", "frozen")
	w.holds("prod", "1.0.0 1.0.0")
	w.wantPulls("promoter/staging/shop merged", "promoter/prod/shop open")
	w.calm()
	w.Clock.Add(61 * time.Minute)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

func TestReconcile_promotionID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.push(web, "1.1.0")
	ids := w.ids(w.run(), "dev")
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("dev"), "1.1.0"))
	ids = append(ids, w.ids(w.run(), "dev")...)
	if len(ids) != 2 || !strings.HasPrefix(ids[0], "forge.example/1/dev/shop/") || !strings.HasSuffix(ids[0], "/1") ||
		ids[1] != strings.TrimSuffix(ids[0], "1")+"2" {
		t.Errorf("the two promotions of one snapshot are %v", ids)
	}
}

// ids returns the promotions that a run pushed into an environment.
func (w *world) ids(report outcome.Report, environment string) []string {
	var ids []string
	for _, done := range report.Effects {
		if done.Action == outcome.ActionPushed && done.Environment.Name == environment {
			ids = append(ids, done.Promotions...)
		}
	}
	return ids
}

// manual is a config in which staging must be requested.
func manual() string {
	return strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], propose: manual, land: push}")
}

func TestReconcile_requestedVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, manual())
	w.push(web, "1.1.0")
	w.push(web, "1.2.0")
	w.decide(state.AddRequest(in("dev"), state.Request{Act: w.act(""), With: []string{web + ":1.1.0"}}))
	w.run()
	w.holds("dev", "1.2.0 1.0.0") // asked for, then the newer one at once
}

func TestReconcile_group(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.wantPulls("promoter/staging/_all open")
	w.mergeByHand(1, "merge")
	w.run()
	w.holds("staging", "1.1.0 1.1.0")
	w.holds("prod", "1.1.0 1.1.0")
	w.calm()
}

// Before a merge, the commit is written again for comparison, without a commit for each
// application in between: those are never pushed, and stay in memory.
func TestReconcile_verifiesAGroupWithOneCommit(t *testing.T) {
	t.Parallel()
	config := "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\n" +
		"environments:\n  prod: {paths: [\"prod/{application}.txt\"], land: automerge, pullRequest: {group: environment}}\n"
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("prod/shop-%d.txt", i)] = line(web, "1.0.0")
	}
	w := &world{World: reconciletest.New(config, files), t: t}
	w.push(web, "1.0.0")
	w.run()
	w.Git.CommitSize = 1
	most := int64(0)
	w.Git.Effect = func(bool, []repo.Update) error {
		most = max(most, w.Git.Objects().Unpushed())
		return nil
	}
	w.pushAndRun(web, "1.1.0")
	w.wantPulls("promoter/prod/_all merged")
	if most > 1 {
		t.Errorf("up to %d commits were written before a push", most)
	}
}

func TestReconcile_unusableRepository(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	w.Forge.Retarget(1, "other")
	w.run()
	w.calm()
	if comments := w.Forge.CommentsOf(1); len(comments) != 1 || !strings.Contains(comments[0].Body, "base") {
		t.Errorf("comments: %v", comments)
	}
	w.Git.Set("main", "")
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil || !strings.Contains(report.Unusable, "no default branch") {
		t.Errorf("%v, %q", err, report.Unusable)
	}
}

func TestReconcile_badConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "broken", func(all map[string]string) { all[".promoter.yaml"] = "version: 1\nnonsense: true\n" })
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil || !strings.Contains(report.Unusable, ".promoter.yaml:1:1") {
		t.Errorf("%v, %q", err, report.Unusable)
	}
}

// A pull request that waits for its checks while newer versions queue does not merge what was rejected
// in the environment that it comes from.
func TestUserDecisions_rejectedInParentWhileQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(threeEnvironments, "after: [dev]}", "after: [dev], land: automerge, newer: queue, gates: {checks: [ci]}}", 1))
	w.pushAndRun(web, "1.1.0")
	w.pushAndRun(web, "1.2.0")
	rejected := map[string]string{"web": web + ":1.1.0@" + reconciletest.Digest("web 1.1.0")}
	w.decide(state.Reject(in("dev"), state.Rejection{Act: w.act("broken"), Images: rejected}))
	w.Forge.Check(w.pull(1).Head.Commit, "ci", scm.CheckPassed)
	w.run()
	w.holds("staging", "1.0.0 1.0.0")
	wantReason(t, w.run(), "staging", "proposed", "1.0.0 -> 1.2.0")
}
