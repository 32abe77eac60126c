package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/state"
)

// unpinned is a world in which users wrote tags without digests everywhere, and a child soaks.
func unpinned(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, strings.Replace(threeEnvironments, "after: [dev]}", "after: {dev: {soak: 1h}}}", 1))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Without digests", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/shop.txt"] = web + ":1.0.0\n"
		}
	})
	return w
}

// pin turns on pin: tag+digest.
func (w *world) pin() {
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Pin", func(all map[string]string) {
		all[config.FileName] = strings.Replace(all[config.FileName], `{semver: ">=1"}}`, `{semver: ">=1"}, pin: tag+digest}`, 1)
	})
}

func (w *world) contains(environment, want string) {
	w.t.Helper()
	if content := w.Git.FilesOf(w.Git.Branch("main"))[environment+"/shop.txt"]; content != want {
		w.t.Errorf("%s has %q, want %q", environment, content, want)
	}
}

// What is there is pinned in every environment, without a new soak.
func TestReconcile_pinTurnedOn(t *testing.T) {
	t.Parallel()
	w := unpinned(t)
	w.run() // nothing differs
	w.calm()
	w.decide(state.FirstSeen(in("dev"), tagOnly(web, "1.0.0"), "", w.Clock.Now()))
	w.Clock.Add(2 * time.Hour)
	w.pin()
	w.run()
	w.contains("dev", line(web, "1.0.0")+"\n")
	w.wantPulls("promoter/staging/shop open", "promoter/prod/shop merged") // staging has the same version
	if pr := w.pull(1); pr.Title != "Rewrite shop in staging: pin web 1.0.0 to its digest" || !strings.Contains(pr.Body, "Why: pin web 1.0.0 to its digest.") {
		t.Errorf("%s\n%s", pr.Title, pr.Body)
	}
	w.calm()
	w.mergeByHand(1, "merge")
	w.run()
	w.contains("staging", line(web, "1.0.0")+"\n")
	w.contains("prod", line(web, "1.0.0")+"\n")
	w.calm()
}

// A closed pull request of a form says nothing about its versions, and is not opened again.
func TestReconcile_closedPullRequestOfForm(t *testing.T) {
	t.Parallel()
	w := unpinned(t)
	w.decide(state.FirstSeen(in("dev"), tagOnly(web, "1.0.0"), "", w.Clock.Now()))
	w.Clock.Add(2 * time.Hour)
	w.pin()
	w.run()
	w.Forge.CloseByHand(1, "ada")
	report := w.run()
	wantReason(t, report, "staging", "same: already up to date")
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged")
	w.contains("prod", line(web, "1.0.0")+"\n")
	w.calm()
	w.Clock.Add(time.Minute)
	w.decide(w.unreject(in("staging"), "1.0.0"))
	w.run()
	w.wantPulls("promoter/staging/shop closed", "promoter/prod/shop merged", "promoter/staging/shop open")
	w.calm()
}

// tagOnly is the ID of a snapshot of one tag without a digest.
func tagOnly(repository, tag string) string {
	parsed, _ := image.Parse(repository + ":" + tag)
	return promotion.Snapshot{"web": {Repository: parsed.Repository, Version: image.Version{Tag: tag}}}.ID()
}
