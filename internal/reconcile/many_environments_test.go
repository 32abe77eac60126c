package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// many is a world of one component in many environments of one branch.
func many(t *testing.T, n int, land string) *world {
	t.Helper()
	text := "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n"
	files := map[string]string{}
	for i := range n {
		text += fmt.Sprintf("  e%d: {paths: [\"e%d/{application}.txt\"], land: %s}\n", i, i, land)
		files[fmt.Sprintf("e%d/shop.txt", i)] = line(web, "1.0.0")
	}
	w := &world{World: reconciletest.New(text, files), t: t}
	w.push(web, "1.0.0")
	return w
}

func TestReconcile_pushesOneChainPerBranch(t *testing.T) {
	t.Parallel()
	w := many(t, 20, "push")
	w.run()
	w.pushAndRun(web, "1.1.0")
	if w.Git.Pushes != 1 {
		t.Errorf("%d pushes", w.Git.Pushes)
	}
	for i := range 20 {
		w.holds(fmt.Sprintf("e%d", i), "1.1.0")
	}
	w.calm()
}

// Large commits are pushed in parts, in their order. A part that fails stops the others.
func TestReconcile_pushesALongChainInParts(t *testing.T) {
	t.Parallel()
	w := many(t, 20, "push")
	w.run()
	w.Git.CommitSize = 3 << 20 // six of them are over 16 MiB
	acted, refused := []int{}, false
	w.Git.Effect = func(before bool, _ []repo.Update) error {
		if before && len(acted) == 2 && !refused {
			refused = true
			return fault.New(fault.Unauthorized, "the branch is protected")
		}
		return nil
	}
	r := w.Reconciler()
	r.Acted = func(_ context.Context, _ *config.Config, effects []outcome.Effect) {
		acted = append(acted, len(effects))
	}
	w.push(web, "1.1.0")
	report, err := r.Reconcile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{6, 6, 6, 2}; !slices.Equal(acted, want) || !refused || w.Git.Pushes != len(want) {
		t.Errorf("effects of the pushes: %v, want %v; %d pushes", acted, want, w.Git.Pushes)
	}
	for i := range 20 {
		w.holds(fmt.Sprintf("e%d", i), "1.1.0")
		if e := report.Effects[i]; e.Action != outcome.ActionPushed || e.Environment.Name != fmt.Sprintf("e%d", i) {
			t.Errorf("effect %d: %s of %s, %v", i, e.Action, e.Environment.Name, e.Err)
		}
	}
	w.calm()
}

// A chain of environments that is longer than the limit lands in several reconciliations.
func TestReconcile_endsAfterMaxFollowing(t *testing.T) {
	t.Parallel()
	text := "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n"
	files := map[string]string{}
	for i := range 4 {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: [e%d]", i-1)
		}
		text += fmt.Sprintf("  e%d: {paths: [\"e%d/{application}.txt\"], land: push%s}\n", i, i, after)
		files[fmt.Sprintf("e%d/shop.txt", i)] = line(web, "1.0.0")
	}
	w := &world{World: reconciletest.New(text, files), t: t}
	w.push(web, "1.0.0")
	w.push(web, "1.1.0")
	r := w.Reconciler()
	r.MaxFollowing = 1
	again := 0
	for ; again < 10; again++ {
		report, err := r.Reconcile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !report.Again {
			break
		}
	}
	w.holds("e3", "1.1.0")
	if again == 0 || again == 10 {
		t.Errorf("%d reconciliations had more to do", again)
	}
}

func TestReconcile_automergesOfOneBranch(t *testing.T) {
	t.Parallel()
	w := many(t, 20, "automerge")
	report := w.pushAndRun(web, "1.1.0")
	for i := range 20 {
		w.holds(fmt.Sprintf("e%d", i), "1.1.0")
	}
	if w.Forge.Merges != 20 {
		t.Errorf("%d merges", w.Forge.Merges)
	}
	opened, merged := 0, 0
	for _, done := range report.Effects {
		switch done.Action {
		case outcome.ActionOpened:
			opened++
		case outcome.ActionMerged:
			merged++
		}
	}
	if opened != 20 || merged != 20 {
		t.Errorf("it tells of %d opened and %d merged", opened, merged)
	}
	// One for each pass, and one just before each merge.
	if lists := w.Forge.Calls["list open"]; lists > 3+20 {
		t.Errorf("the open pull requests were listed %d times: %v", lists, w.Forge.Calls)
	}
	w.calm()
}

// A pull request that cannot be read is an error of its own.
func TestReconcile_oneFailingPullRequestStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"checks", "reviews", "list closed", "status", "create", "edit", "say"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := many(t, 4, "pr")
			w.push(web, "1.1.0")
			if what != "list closed" && what != "create" {
				w.run()
				w.push(web, "1.2.0")
			}
			n := 0
			w.Forge.Fail = func(call string) error {
				if call == what {
					if n++; n == 2 {
						return errBroken
					}
				}
				return nil
			}
			report, err := w.Reconciler().Reconcile(t.Context())
			if err != nil {
				t.Fatalf("the whole pass failed: %v", err)
			}
			if n >= 2 && !report.Failed() {
				t.Error("nobody is told")
			}
			w.Forge.Fail = nil
			fresh := 0
			for _, pr := range w.Forge.All() {
				if strings.Contains(pr.Title, report.Decisions[0].Moves[0].To.Tag) && pr.State == scm.StateOpen {
					fresh++
				}
			}
			if fresh < 3 {
				t.Errorf("%d of 4 are up to date: %v", fresh, w.pulls())
			}
			w.run()
			w.calm()
		})
	}
}

var errBroken = fault.New(fault.Temporary, "the connection broke")

// A reconciliation in which many wait for users sends a few requests for each, and none
// about old landings.
func TestReconcile_requestsWhileManyWait(t *testing.T) {
	t.Parallel()
	const n = 30
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], pullRequest: {limit: 100}}"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "many", func(all map[string]string) {
		for i := range n {
			for _, environment := range environments() {
				all[fmt.Sprintf("%s/app%d.txt", environment, i)] = line(web, "1.0.0")
			}
		}
	})
	w.pushAndRun(web, "1.1.0")
	for i := range n / 2 {
		w.mergeByHand(i+1, "merge")
	}
	w.run()
	w.pushAndRun(web, "1.2.0")
	clear(w.Forge.Calls)
	w.run()
	open := 0
	for _, pr := range w.Forge.All() {
		if pr.State == scm.StateOpen {
			open++
		}
	}
	delete(w.Forge.Calls, "by a user")
	if asked := w.Forge.Calls; asked["checks"] != open || asked["reviews"] != open || len(asked) != 4 || asked["list open"] != 1 || asked["recent"] != 1 {
		t.Errorf("with %d open it asked %v", open, asked)
	}
}

// A user who may push one branch cannot stop the others with its content.
func TestReconcile_oversizedBranchStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"promoter/staging/shop", "release"} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(threeEnvironments, "prod: {", "prod: {branch: release, "))
			w.Git.Set("release", w.Git.Branch("main"))
			w.pushAndRun(web, "1.1.0")
			w.Git.TooLarge = map[string]bool{branch: true}
			w.push(web, "1.2.0")
			report, err := w.Reconciler().Reconcile(t.Context())
			if err != nil || !report.Failed() {
				t.Fatalf("%v, failed %v", err, report.Failed())
			}
			w.holds("dev", "1.2.0 1.0.0")
			w.Git.TooLarge = nil
			w.run()
			if !strings.Contains(w.pull(1).Title, "1.2.0") {
				t.Errorf("staging: %q", w.pull(1).Title)
			}
		})
	}
}
