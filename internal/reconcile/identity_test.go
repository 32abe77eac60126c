package reconcile_test

import (
	"context"
	"strings"
	"testing"

	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// Another identity is configured: the commits before are still ours, also one by an
// identity that no process knows anymore. They are left alone until there is something new.
func TestIdentity_changed(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]repo.Signature{
		"the default": repo.DefaultSignature(), "another": {Name: "gitops", Email: "gitops@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, threeEnvironments)
			w.By = before
			w.pushAndRun(web, "1.1.0")
			head := w.Git.Branch("promoter/staging/shop")
			w.By = repo.Signature{Name: "acme-promoter[bot]", Email: "7+acme-promoter[bot]@users.noreply.github.com"}
			w.calm()
			if w.Git.Branch("promoter/staging/shop") != head {
				t.Error("it was pushed again")
			}
			id := w.comment(1, "ada", "/promoter reject it leaks") // the trailers of its head count
			w.run()
			w.wantReactions(id, scm.ReactionDone)
			w.decide(w.unreject(state.Target{Environment: state.All, Application: state.All}, "1.1.0"))
			w.pushAndRun(web, "1.2.0")
			commit, err := w.Git.Objects().Commit(w.Git.Branch("promoter/staging/shop"))
			if err != nil || commit.Committer.Name != "acme-promoter[bot]" {
				t.Errorf("it is by %+v, %v", commit.Committer, err)
			}
			w.wantAnswer(1)
			w.calm()
		})
	}
}

// A commit of ours that a user amended has our trailers, and is the user's.
func TestIdentity_amendedCommitIsForeign(t *testing.T) {
	t.Parallel()
	for name, amend := range map[string]func(files map[string]string){
		"another version": func(files map[string]string) { files["staging/shop.txt"] = line(web, "1.0.0") + "\n" },
		"another file":    func(files map[string]string) { files["notes"] = "mine" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := staged(t, threeEnvironments)
			const branch = "promoter/staging/shop"
			ours, err := w.Git.Objects().Commit(w.Git.Branch(branch))
			if err != nil {
				t.Fatal(err)
			}
			content := w.Git.FilesOf(ours.ID)["staging/shop.txt"]
			w.Git.Set(branch, ours.Parents[0])
			amended := w.Git.Commit(branch, reconciletest.Human, w.Clock.Now(), ours.Message, func(files map[string]string) {
				files["staging/shop.txt"] = content
				amend(files)
			})
			w.pushAndRun(web, "1.2.0")
			if w.Git.Branch(branch) != amended {
				t.Error("it was replaced")
			}
			if got := w.statusOf(amended); !strings.Contains(got, "committed to it") {
				t.Errorf("its status is %q", got)
			}
			w.calm()
		})
	}
}

// A branch without a pull request, by an earlier identity, is used again.
func TestIdentity_changedWithoutPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, threeEnvironments)
	w.By = repo.Signature{Name: "gitops", Email: "gitops@example.com"}
	w.Forge.Fail = func(call string) error {
		if call == "create" {
			return context.DeadlineExceeded
		}
		return nil
	}
	w.push(web, "1.1.0")
	if _, err := w.Reconciler().Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Forge.Fail, w.By = nil, reconciletest.By
	w.pushAndRun(web, "1.2.0")
	w.wantPulls("promoter/staging/shop open")
	w.calm()
}
