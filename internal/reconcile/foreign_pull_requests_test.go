package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

// Our status would pass on commits of a user for which no gate was checked, so it fails, also
// where it passed before, until the user undoes that.
func TestReconcile_statusOfTakenOverPullRequest(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	ours := w.Git.Branch("promoter/staging/shop")
	if got := w.statusOf(ours); !strings.HasPrefix(got, "passed") {
		t.Fatalf("the status of our own commit is %q", got)
	}
	w.byHand("promoter/staging/shop", "staging", "1.0.0", "1.0.9")
	theirs := w.Git.Branch("promoter/staging/shop")
	if err := w.Forge.Signals().SetStatus(t.Context(), theirs, pullrequest.StatusOfOthers(nil)); err != nil {
		t.Fatal(err)
	}
	w.Forge.ByHand("ada", "promoter/staging/shop", "feature", true) // the same commit in a second pull request
	for range 2 {
		w.run()
		if got := w.statusOf(theirs); !strings.HasPrefix(got, "failed not promoter's anymore: ") {
			t.Errorf("its status is %q", got)
		}
	}
	w.calm()
}

// A second pull request from our branch, or of a branch of the same name in a fork, takes
// the place of ours in no step, wherever the forge lists it.
func TestReconcile_secondPullRequestOfOurBranch(t *testing.T) {
	t.Parallel()
	second := map[string]func(w *world){
		"into another branch": func(w *world) { w.Forge.ByHand("ada", "promoter/staging/shop", "feature", true) },
		"into the same":       func(w *world) { w.Forge.ByHand("ada", "promoter/staging/shop", "main", true) },
		"by our account":      func(w *world) { w.Forge.ByHand(reconciletest.Bot.Login, "promoter/staging/shop", "feature", true) },
		"of a fork":           func(w *world) { w.Forge.ByHand("mallory", "promoter/staging/shop", "main", false) },
	}
	for name, open := range second {
		for _, newestFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, newest first %v", name, newestFirst), func(t *testing.T) {
				t.Parallel()
				w := staged(t, threeEnvironments)
				w.Git.Set("feature", w.Git.Branch("main"))
				w.Forge.NewestFirst = newestFirst
				open(w)
				w.run()
				if report := w.pushAndRun(web, "1.2.0"); !strings.Contains(w.pull(1).Title, "1.2.0") {
					t.Errorf("it is %q: %s", w.pull(1).Title, reason(report, "staging"))
				}
				if got := w.statusOf(w.pull(1).Head.Commit); !strings.HasPrefix(got, "passed") {
					t.Errorf("its status is %q", got)
				}
				w.wantAnswer(1)
				w.calm()
			})
		}
	}
}

// The comment about a user's commit contains a name that the user chose. It mentions no
// user, and its marker stays invisible.
func TestReconcile_userNamesAreSanitized(t *testing.T) {
	t.Parallel()
	w := staged(t, threeEnvironments)
	who := reconciletest.Human
	who.Name = "@acme/everyone <img src=x>"
	branch := "promoter/staging/shop"
	w.Git.Commit(branch, who, w.Clock.Now(), "By hand", func(all map[string]string) { all["staging/shop.yaml"] += "# mine\n" })
	w.run()
	said, err := w.Forge.Conversation().Comments(t.Context(), 1)
	if err != nil || len(said) != 1 {
		t.Fatalf("%d comments, %v", len(said), err)
	}
	if body := said[0].Body; strings.Contains(body, "@acme") || strings.Contains(body, "<img") || !strings.HasPrefix(body, "<!-- ") {
		t.Errorf("it says %q", body)
	}
	w.calm()
}

func (w *world) statusOf(commit string) string {
	w.t.Helper()
	checks, err := w.Forge.Signals().Checks(w.t.Context(), commit)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, check := range checks {
		if check.Name == promotion.StatusContext {
			return string(check.State) + " " + check.Description
		}
	}
	return ""
}

// All foreign pull requests get their status in the end, and none twice.
func TestReconcile_statusOfManyForeignPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	for i := range 120 {
		branch := fmt.Sprintf("feature-%d", i)
		w.Git.Set(branch, w.Git.Branch("main"))
		w.Git.Commit(branch, reconciletest.Human, w.Clock.Now(), branch, func(all map[string]string) { all[branch] = "x" })
		w.Forge.ByHand("ada", branch, "main", true)
	}
	for range 3 {
		w.run()
	}
	for i := range 120 {
		if w.statusOf(w.Git.Branch(fmt.Sprintf("feature-%d", i))) == "" {
			t.Fatalf("feature-%d has no status", i)
		}
	}
	if n := w.Forge.Calls["status"]; n != 120 {
		t.Errorf("%d statuses were set", n)
	}
}

// A token that may set statuses and not read checks sets none twice.
func TestReconcile_statusOnceWithoutChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Set("feature", w.Git.Branch("main"))
	w.Git.Commit("feature", reconciletest.Human, w.Clock.Now(), "Mine", func(all map[string]string) { all["mine"] = "x" })
	w.Forge.ByHand("ada", "feature", "main", true)
	w.push(web, "1.1.0")
	w.failing("checks", fault.New(fault.Unauthorized, "Resource not accessible by personal access token"))
	w.run()
	if n := w.Forge.Calls["status"]; n != 2 {
		t.Errorf("%d statuses were set", n)
	}
	clear(w.Forge.Calls)
	w.run()
	if n := w.Forge.Calls["status"]; n != 0 {
		t.Errorf("a second run set %d statuses", n)
	}
}

// GitLab lets no Developer set a status on a protected branch, such as that of an
// environment that is merged into the next one.
func TestReconcile_statusOfProtectedHeadIsTolerated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Set("feature", w.Git.Branch("main"))
	w.Git.Commit("feature", reconciletest.Human, w.Clock.Now(), "Mine", func(all map[string]string) { all["mine"] = "x" })
	w.Forge.ByHand("ada", "feature", "main", true)
	w.failing("status", fault.New(fault.Unauthorized, "403: %w", scm.ErrProtectedHead))
	w.run()
	if n := w.Forge.Calls["status"]; n != 0 {
		t.Errorf("%d statuses were set", n)
	}
}

// A forge may be unable to set a status on a commit of a fork (GitLab). Such a pull
// request does not make every run fail.
func TestReconcile_forkThatAcceptsNoStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.Git.Set("theirs", w.Git.Branch("main"))
	w.Git.Commit("theirs", reconciletest.Human, w.Clock.Now(), "Theirs", func(all map[string]string) { all["theirs"] = "x" })
	w.Forge.ByHand("mallory", "theirs", "main", false)
	w.failing("status", fault.New(fault.NotFound, "404 References for commit Not Found"))
	w.run()
	w.push(web, "1.1.0")
	if report, err := w.Reconciler().Reconcile(t.Context()); err != nil || !report.Failed() {
		t.Errorf("a status of our own that cannot be set is told: %v", err)
	}
}
