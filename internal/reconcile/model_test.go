package reconcile_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"promoter/internal/reconcile"
	"promoter/internal/reconcile/modeltest"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/statebranch"
)

// TestModel plays random stories around reconciliations over a forge and a Git in
// memory: thousands of them in a minute. internal/app plays them on real ones.
func TestModel_randomStories(t *testing.T) {
	t.Parallel()
	modeltest.Model{New: inMemory, Events: 40, Budget: 3 * time.Second}.Play(t)
}

// The same with plain Git.
func TestModel_pushOnly(t *testing.T) {
	t.Parallel()
	modeltest.Model{New: pushOnly, Events: 40, Budget: time.Second}.Play(t)
}

// The same with a state branch that has seals. The people of the stories have the key.
func TestModel_withSeals(t *testing.T) {
	t.Parallel()
	keys := sealKeys(t, "k")
	sealed := func(t *testing.T, random *rand.Rand, files map[string]string) modeltest.World {
		t.Helper()
		w := inMemory(t, random, files)
		open := w.Reconciler
		w.Reconciler = func(t *testing.T, fresh bool) (*reconcile.Reconciler, func(), error) {
			t.Helper()
			r, end, err := open(t, fresh)
			r.Clients.Seals = statebranch.Seals{Keys: keys, Repository: "github.com:1"}
			return r, end, err
		}
		return w
	}
	modeltest.Model{New: sealed, Events: 40, Budget: 2 * time.Second}.Play(t)
}

func inMemory(_ *testing.T, _ *rand.Rand, files map[string]string) modeltest.World {
	return modelOf(reconciletest.New(files[repo.ConfigFile], files))
}

func pushOnly(_ *testing.T, _ *rand.Rand, files map[string]string) modeltest.World {
	w := reconciletest.New(files[repo.ConfigFile], files)
	w.Forge.Limits = scm.Features{}
	return modelOf(w)
}

func modelOf(w *reconciletest.World) modeltest.World {
	w.Permissions.Strangers[scmtest.Eve] = true
	w.Git.CommitSize = 10 << 20 // chains of commits are pushed in parts of two
	return modeltest.World{
		Bench: w.Bench(), Store: store{w.Git}, Clock: w.Clock, Registry: w.Registry,
		Clean: w.Git.Clean,
		Rewrite: func(branch, message string, change func(map[string]string)) {
			w.Git.Commit(branch, reconciletest.Human, w.Clock.Now(), message, change)
		},
		Bare: func(bare bool) { w.Forge.Bare = bare },
		Reconciler: func(_ *testing.T, fresh bool) (*reconcile.Reconciler, func(), error) {
			end := func() {} // nothing is kept of it
			if !fresh {
				return w.Reconciler(), end, nil
			}
			reconciler, _ := w.FreshReconciler()
			return reconciler, end, nil
		},
	}
}

// store is the repository in memory as on its server.
type store struct{ *reconciletest.Git }

// Commit implements modeltest.Store.
func (s store) Commit(id string) repo.Commit {
	commit, _ := s.Objects().Commit(id) // one that is not there is none
	return commit
}

// Files implements modeltest.Store.
func (s store) Files(commit string) map[string]string { return s.FilesOf(commit) }
