package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// urgently requests a version of web for shop in an environment.
func (w *world) urgently(environment, tag string) {
	w.t.Helper()
	w.push(web, tag)
	w.decide(state.AddRequest(in(environment), state.Request{Act: w.act("incident"), With: []string{web + ":" + tag}}))
}

// rollsBack rolls shop in an environment back to what its files had before promoter.
func (w *world) rollsBack(environment string) {
	w.t.Helper()
	images := map[string]string{"web": line(web, "1.0.0"), "worker": line(worker, "1.0.0")}
	w.decide(state.Rollback(in(environment), state.RolledBack{Act: w.act("slow"), Images: images, Commit: w.first()}))
}

// first is the first commit of main.
func (w *world) first() string {
	commit := w.Git.Branch("main")
	for {
		read, err := w.Git.Objects().Commit(commit)
		if err != nil || len(read.Parents) == 0 {
			return commit
		}
		commit = read.Parents[0]
	}
}

// about lists the applications of an environment that each open pull request has in its head: "#1 cart, shop".
func (w *world) about() map[string][]string {
	about := map[string][]string{}
	for _, pr := range w.Forge.All() {
		if pr.State != scm.StateOpen {
			continue
		}
		head, err := w.Git.Objects().Commit(w.Git.Branch(pr.Head.Branch))
		if err != nil {
			continue
		}
		for _, landed := range promotion.ReadTrailers(head.Trailers) {
			about[pr.Head.Branch] = append(about[pr.Head.Branch], landed.Application)
		}
	}
	return about
}

// oneEach checks that no two open pull requests are about one application.
func (w *world) oneEach() {
	w.t.Helper()
	seen := map[string]string{}
	for branch, applications := range w.about() {
		environment := strings.Split(branch, "/")[1]
		for _, application := range applications {
			if other := seen[environment+"/"+application]; other != "" {
				w.t.Errorf("%s and %s are both open, about %s", other, branch, application)
			}
			seen[environment+"/"+application] = branch
		}
	}
}

// wantAbout checks which applications the open pull request of a branch has.
func (w *world) wantAbout(branch, want string) {
	w.t.Helper()
	if got := strings.Join(w.about()[branch], " "); got != want {
		w.t.Errorf("%s is about %q, want %q", branch, got, want)
	}
}

// A hotfix leaves the open pull request of its group, and returns to it once it landed.
func TestUrgent_hotfixLeavesTheGroup(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.wantAbout("promoter/staging/_all", "cart shop")
	w.urgently("staging", "1.0.1")
	w.run()
	w.wantPulls("promoter/staging/_all open", "promoter/staging/shop open")
	w.wantAbout("promoter/staging/_all", "cart")
	w.wantAbout("promoter/staging/shop", "shop")
	if title := w.pull(2).Title; !strings.Contains(title, "shop") || strings.Contains(title, "cart") {
		t.Errorf("the title is %q", title)
	}
	w.calm()
	w.mergeByHand(2, "merge")
	w.run()
	w.holds("staging", "1.0.1 1.0.0")
	w.wantPulls("promoter/staging/_all open", "promoter/staging/shop merged", "promoter/prod/shop merged")
	w.wantAbout("promoter/staging/_all", "cart shop")
	w.calm()
}

// The only application of the open pull request of a group.
func TestUrgent_closesAnEmptyGroup(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.mergeByHand(1, "merge")
	w.run()
	w.pushAndRun(web, "1.2.0")
	w.wantAbout("promoter/staging/_all", "shop")
	w.urgently("staging", "1.1.1")
	w.run()
	w.oneEach()
	pulls := w.pulls()
	if !slices.Contains(pulls, "promoter/staging/_all closed") || !slices.Contains(pulls, "promoter/staging/shop open") {
		t.Errorf("%v", pulls)
	}
	w.calm()
}

// A rollback is not shipped with what is new in another application of its group. When it is
// cancelled, the application returns to the group.
func TestUrgent_rollbackLeavesTheGroup(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.mergeByHand(1, "merge")
	w.run()
	w.pushAndRun(worker, "1.2.0")
	w.pushAndRun(web, "1.2.0")
	w.wantAbout("promoter/staging/_all", "cart shop")
	w.rollsBack("staging")
	w.run()
	w.wantAbout("promoter/staging/_all", "cart")
	w.wantAbout("promoter/staging/shop", "shop")
	w.calm()
	w.decide(state.Resume(in("staging"), w.act("")))
	w.run()
	w.oneEach()
	w.wantAbout("promoter/staging/_all", "cart shop")
	w.calm()
}

// A crash between the two pull requests, at any effect, leaves at most one about each application,
// on the way out of the group and back.
func TestUrgent_survivesACrashAtEveryStep(t *testing.T) {
	t.Parallel()
	atEveryStep(t, 6, func(t *testing.T, step int, before bool) bool {
		t.Helper()
		w := grouped(t)
		w.urgently("staging", "1.0.1")
		reached := w.killedOnTheWay(step, before)
		w.wantAbout("promoter/staging/_all", "cart")
		w.wantAbout("promoter/staging/shop", "shop")
		return reached
	})
	atEveryStep(t, 6, func(t *testing.T, step int, before bool) bool {
		t.Helper()
		w := grouped(t)
		w.urgently("staging", "1.0.1")
		w.run()
		w.decide(state.RemoveRequest(in("staging"), *w.state().At(in("staging")).Request))
		reached := w.killedOnTheWay(step, before)
		w.wantAbout("promoter/staging/_all", "cart shop")
		w.wantAbout("promoter/staging/shop", "")
		return reached
	})
}

// killedOnTheWay kills a run at an effect, and reconciles again. At each effect, no two open pull requests
// are about one application.
func (w *world) killedOnTheWay(step int, before bool) (reached bool) {
	w.t.Helper()
	dead, end := w.dying(step, before)
	w.eachEffect((*world).oneEach)
	_, _ = w.Reconciler().Reconcile(w.t.Context())
	end()
	w.eachEffect((*world).oneEach)
	w.run()
	w.oneEach()
	w.calm()
	return dead()
}

// eachEffect also calls a function after each effect.
func (w *world) eachEffect(check func(*world)) {
	git, forge := w.Git.Effect, w.Forge.Effect
	w.Git.Effect = func(before bool, updates []repo.Update) error {
		check(w)
		if git == nil {
			return nil
		}
		return git(before, updates)
	}
	w.Forge.Effect = func(before bool, what string) error {
		check(w)
		if forge == nil {
			return nil
		}
		return forge(before, what)
	}
}

// The pull request of the group cannot be updated: the other one is not opened.
func TestUrgent_waitsUntilTheGroupIsUpdated(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.urgently("staging", "1.0.1")
	w.Git.Effect = func(before bool, updates []repo.Update) error {
		if before && slices.ContainsFunc(updates, func(u repo.Update) bool { return u.Branch == "promoter/staging/_all" }) {
			return fault.New(fault.Unauthorized, "protected")
		}
		return nil
	}
	report, err := w.Reconciler().Reconcile(t.Context())
	if err != nil || !report.Failed() {
		t.Errorf("%v, %+v", err, report.Errors)
	}
	w.wantPulls("promoter/staging/_all open")
	w.oneEach()
	w.Git.Effect = nil
	w.run()
	w.wantPulls("promoter/staging/_all open", "promoter/staging/shop open")
	w.oneEach()
}

// A full limit stops neither a hotfix nor a rollback.
func TestUrgent_isOutsideTheLimit(t *testing.T) {
	t.Parallel()
	w := grouped(t)
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Limit", func(all map[string]string) {
		all[repo.ConfigFile] = strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], pullRequest: {limit: 1}}")
	})
	w.run()
	w.wantPulls("promoter/staging/_all closed", "promoter/staging/cart open")
	w.urgently("staging", "1.0.1")
	w.run()
	w.wantPulls("promoter/staging/_all closed", "promoter/staging/cart open", "promoter/staging/shop open")
	w.calm()
	w.mergeByHand(3, "merge")
	w.run()
	w.holds("staging", "1.0.1 1.0.0")
}

// An automatic rollback passes windows, limit, and group, and no freeze.
func TestUrgent_automaticRollback(t *testing.T) {
	t.Parallel()
	config := strings.Replace(monitored, "land: push", "land: automerge\n    pullRequest: {group: environment}\n    gates: {windows: [office]}", 1)
	config = strings.Replace(config, "timeout: 15m", "timeout: 15m, onFailure: rollback", 1) +
		"windows:\n  office: {kind: allow, schedule: \"0 11 * * *\", duration: 30m, timeZone: UTC}\n"
	w := newMonitoredWorld(t, config)
	w.push(web, "1.1.0")
	w.reconcile()
	w.holds("dev", "1.1.0 1.0.0")
	w.Clock.Add(time.Hour) // the window is closed
	w.reports("shop-dev", health.Degraded, "", "crash loop")
	w.reconcile()
	w.Clock.Add(20 * time.Minute)
	w.decide(state.Freeze("dev", w.act("audit"), nil))
	w.reconcile()
	w.holds("dev", "1.1.0 1.0.0")
	w.decide(state.Thaw("dev"))
	w.reconcile()
	w.holds("dev", "1.0.0 1.0.0")
	if pulls := w.pulls(); pulls[len(pulls)-1] != "promoter/dev/shop merged" {
		t.Errorf("%v", pulls)
	}
}
