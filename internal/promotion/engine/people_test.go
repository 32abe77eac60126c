package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	config_ "promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/promotion/engine/enginetest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// decide is a person who says something by a verb.
func (w *world) decide(changes ...state.Change) {
	w.t.Helper()
	if _, err := w.Lane().Decide(w.t.Context(), "A person decides", changes...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) act(why string) state.Act {
	return state.Act{By: identity.Person{Login: "ada"}, At: w.Clock.Now(), Why: why}
}

func in(environment string) state.Place {
	return state.Place{Environment: environment, Application: "shop"}
}

func TestReconcile_holdAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.decide(state.Hold(in("dev"), w.act("an incident")))
	w.push(web, "1.1.0")
	report := w.run()
	wantReason(t, report, "dev", "held", "ada", "an incident")
	w.holds("dev", "1.0.0 1.0.0")
	w.calm()
	w.decide(state.Resume(in("dev"), w.act("")))
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
}

func TestReconcile_G10_freezeWhileAutomergeWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "land: automerge}", "land: automerge, gates: {checks: [ci]}}"))
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	w.run()
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

func TestReconcile_G07_checks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "land: automerge}", `land: automerge, gates: {checks: ["ci*"]}}`))
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	w.run()
	head := w.pull(2).Head.Commit
	for _, state := range []scm.CheckState{scm.CheckPending, scm.CheckFailed} {
		w.Forge.Check(head, "ci/build", state)
		w.run()
		w.holds("prod", "1.0.0 1.0.0")
	}
	w.Forge.Check(head, promotion.StatusContext, scm.CheckPassed)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.Forge.Check(head, "ci/build", scm.CheckPassed)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

func TestReconcile_G09_approvals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "land: automerge}", `land: automerge, gates: {approvals: {count: 1, from: ["team:acme/sre/ada", "bob"]}}}`))
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	w.run()
	for _, nobody := range []string{enginetest.Bot.Login, "carol"} {
		w.Forge.Review(2, nobody, scm.Approved)
		w.run()
		w.holds("prod", "1.0.0 1.0.0")
	}
	w.Forge.Review(2, "bob", scm.ChangesRequested)
	w.Forge.Review(2, "ada", scm.Approved)
	w.run()
	w.holds("prod", "1.0.0 1.0.0")
	w.Forge.Review(2, "bob", scm.Dismissed)
	w.run()
	w.holds("prod", "1.1.0 1.0.0")
}

func TestReconcile_M06_rejectedVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.push(worker, "1.1.0")
	w.run()
	w.Forge.CloseByHand(1, "ada")
	w.push(worker, "1.2.0")
	report := w.run()
	wantReason(t, report, "staging", "rejected", "web 1.1.0")
	w.wantPulls("promoter/staging/shop closed")
	w.push(web, "1.2.0")
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
}

func TestReconcile_M06_rejectedEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.decide(state.Reject(state.Place{Environment: state.All, Application: state.All}, state.Rejection{
		Act: w.act("it leaks"), Images: map[string]string{"web": line(web, "1.1.0")},
	}))
	report := w.run()
	wantReason(t, report, "dev", "rejected", "it leaks")
	w.holds("dev", "1.0.0 1.0.0")
	w.calm()
}

func TestReconcile_M07_rollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "land: automerge", "land: push"))
	for _, tag := range []string{"1.1.0", "1.2.0"} {
		w.push(web, tag)
		w.Clock.Add(time.Minute)
		w.run()
	}
	before, err := w.Lane().Before(t.Context(), promotion.Place{Environment: "dev", Application: "shop"})
	if err != nil || before["web"].Version.Tag != "1.1.0" {
		t.Fatalf("before: %v, %v", before, err)
	}
	images := map[string]string{}
	for component, pinned := range before {
		images[component] = pinned.String()
	}
	w.decide(state.Rollback(in("dev"), state.RolledBack{Act: w.act("errors"), Images: images}))
	w.run()
	w.holds("dev", "1.1.0 1.0.0")
	w.calm()
	w.push(web, "1.3.0")
	report := w.run()
	wantReason(t, report, "dev", "held")
	w.holds("dev", "1.1.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("dev"), w.act("")))
	w.run()
	w.holds("dev", "1.3.0 1.0.0")
}

func TestReconcile_promotionID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	ids := w.ids(w.run(), "dev")
	w.byHand("main", "dev", line(web, "1.1.0"), line(web, "1.0.0"))
	w.run()
	w.Clock.Add(time.Minute)
	w.decide(state.Resume(in("dev"), w.act("")))
	ids = append(ids, w.ids(w.run(), "dev")...)
	if len(ids) != 2 || !strings.HasPrefix(ids[0], "forge.example/1/dev/shop/") || !strings.HasSuffix(ids[0], "/1") ||
		ids[1] != strings.TrimSuffix(ids[0], "1")+"2" {
		t.Errorf("the two promotions of one snapshot are %v", ids)
	}
}

// ids returns the promotions that a run pushed into an environment.
func (w *world) ids(report engine.Report, environment string) []string {
	var ids []string
	for _, done := range report.Done {
		if done.Act == engine.ActPushed && done.Environment.Name == environment {
			ids = append(ids, done.Promotions...)
		}
	}
	return ids
}

// manual asks before staging.
func manual() string {
	return strings.ReplaceAll(config, "after: [dev]}", "after: [dev], propose: manual, land: push}")
}

func TestReconcile_manual(t *testing.T) {
	t.Parallel()
	w := newWorld(t, manual())
	w.push(web, "1.1.0")
	report := w.run()
	wantReason(t, report, "staging", "waiting", "manual")
	w.calm()
	w.decide(state.Ask(in("staging"), state.Request{Act: w.act("")}))
	w.run()
	w.holds("staging", "1.1.0 1.0.0")
	w.calm()
	w.push(web, "1.2.0")
	report = w.run()
	wantReason(t, report, "staging", "waiting", "manual")
	w.holds("staging", "1.1.0 1.0.0")
}

func TestReconcile_requestedVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, manual())
	w.push(web, "1.1.0")
	w.push(web, "1.2.0")
	w.decide(state.Ask(in("dev"), state.Request{Act: w.act(""), With: []string{web + ":1.1.0"}}))
	w.run()
	w.holds("dev", "1.2.0 1.0.0") // asked for, then the newer one at once
}

func TestReconcile_P16_stateSurvives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.decide(state.Hold(in("staging"), w.act("")))
	w.push(web, "1.1.0")
	w.run()
	w.wantPulls()
	w.run() // nothing but Git and the forge is remembered between two runs
	w.wantPulls()
}

func TestReconcile_M09_environmentGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "Without staging", func(all map[string]string) {
		all[".promoter.yaml"] = strings.ReplaceAll(config[:strings.Index(config, "  staging:")], "land: push", "land: pr")
	})
	report := w.run()
	w.wantPulls("promoter/staging/shop closed")
	if !strings.Contains(fmt.Sprint(report.Done), "staging") {
		t.Errorf("done: %v", report.Done)
	}
	if comments := w.Forge.CommentsOf(1); len(comments) != 1 || !strings.Contains(comments[0].Body, "config") {
		t.Errorf("comments: %v", comments)
	}
	w.calm()
}

func TestReconcile_M10_T10_configInPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.Git.Commit("feature", enginetest.Human, w.Clock.Now(), "x", func(all map[string]string) {
		all[".promoter.yaml"] = strings.ReplaceAll(config, "land: automerge", "land: push")
	})
	w.Forge.ByHand("ada", "feature", "main", true)
	w.push(web, "1.1.0")
	w.run()
	w.wantPulls("feature open", "promoter/staging/shop open")
}

func TestReconcile_T10_serverLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	lane := w.Lane()
	lane.Caps = func(string) promotion.Cap { return promotion.Cap{Land: []config_.Land{config_.LandPR}} }
	if _, err := lane.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.holds("dev", "1.0.0 1.0.0")
	w.wantPulls("promoter/dev/shop open")
}

func TestReconcile_T13_stateOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "after: [staging]", "after: {staging: {soak: 1h}}"))
	w.Git.Commit(state.Branch, enginetest.Human, w.Clock.Now(), "by hand", func(all map[string]string) {
		all["dev/shop.json"] = `{"schema": 1, "hold": {"by": {"host": "", "login": "mallory"}, "at": "2026-11-18T10:00:00Z"}}`
		all["prod/shop.json"] = `{"schema": 1, "request": {"by": {"host": "", "login": "mallory"}, "at": "2026-11-18T10:00:00Z", "with": ["quay.io/acme/web:1.1.0"]}}`
	})
	w.push(web, "1.1.0")
	report := w.run()
	wantReason(t, report, "dev", "held", "mallory")
	wantReason(t, report, "prod", "waiting")
	w.holds("dev", "1.0.0 1.0.0")
	w.holds("prod", "1.0.0 1.0.0")
}

func TestReconcile_P18_limit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "after: [dev]}", "after: [dev], pullRequest: {limit: 3}}"))
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "many", func(all map[string]string) {
		for i := range 10 {
			all[fmt.Sprintf("dev/app%d.txt", i)] = line(web, "1.1.0")
			all[fmt.Sprintf("staging/app%d.txt", i)] = line(web, "1.0.0")
		}
	})
	w.push(web, "1.1.0")
	report := w.run()
	if n := len(w.pulls()); n != 3 {
		t.Errorf("%d pull requests are open", n)
	}
	if !strings.Contains(fmt.Sprint(report.Done), "in line") {
		t.Errorf("nobody is told the place in line: %v", report.Done)
	}
	w.calm()
}

func TestReconcile_group(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.ReplaceAll(config, "after: [dev]}", "after: [dev], pullRequest: {group: environment}}"))
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "another", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/cart.txt"] = line(worker, "1.0.0") + "\n"
		}
	})
	w.push(web, "1.1.0")
	w.push(worker, "1.1.0")
	w.run()
	w.wantPulls("promoter/staging/_all open")
	w.mergeByHand(1, "merge")
	w.run()
	w.holds("staging", "1.1.0 1.1.0")
	w.holds("prod", "1.1.0 1.1.0")
	w.calm()
}

func TestReconcile_M11_imageVanished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.mergeByHand(1, "merge")
	w.Registry.Delete(web, enginetest.Digest("web 1.1.0"))
	report := w.run()
	wantReason(t, report, "prod", "image missing")
	w.holds("prod", "1.0.0 1.0.0")
}

func TestReconcile_M13_tagMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	tagOnly := web + ":1.0.0\n" + worker + ":1.0.0\n"
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "tags only", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/shop.txt"] = tagOnly
		}
	})
	w.push(web, "1.1.0")
	w.run()
	w.Registry.Push(web, "1.1.0", "something else", w.Clock.Now())
	w.mergeByHand(1, "merge")
	report := w.run()
	wantReason(t, report, "prod", "tag moved")
	w.holds("prod", "1.0.0 1.0.0")
}

func TestReconcile_P07_states(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.push(web, "1.1.0")
	w.run()
	w.Forge.Retarget(1, "other")
	w.run()
	w.calm()
	if comments := w.Forge.CommentsOf(1); len(comments) != 1 || !strings.Contains(comments[0].Body, "base") {
		t.Errorf("comments: %v", comments)
	}
	w.Git.Set("main", "")
	report, err := w.Lane().Reconcile(t.Context())
	if err != nil || !strings.Contains(report.State, "no default branch") {
		t.Errorf("%v, %q", err, report.State)
	}
}

func TestReconcile_badConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config)
	w.Git.Commit("main", enginetest.Human, w.Clock.Now(), "broken", func(all map[string]string) { all[".promoter.yaml"] = "version: 1\nnonsense: true\n" })
	report, err := w.Lane().Reconcile(t.Context())
	if err != nil || !strings.Contains(report.State, ".promoter.yaml:1:1") {
		t.Errorf("%v, %q", err, report.State)
	}
}
