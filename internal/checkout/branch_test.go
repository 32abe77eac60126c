package checkout_test

import (
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// repository makes the world's folder a clone with main checked out, and origin's
// branches with the files as they are now.
func (w *world) repository(branches ...string) *gogit.Repository {
	w.t.Helper()
	clone, err := gogit.PlainInitWithOptions(w.dir, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: "refs/heads/main"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(clone, branches...)
	head := plumbing.NewSymbolicReference("refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	if err := clone.Storer.SetReference(head); err != nil {
		w.t.Fatal(err)
	}
	return clone
}

// commit commits the files and lets origin's branches name the commit.
func (w *world) commit(clone *gogit.Repository, branches ...string) {
	w.t.Helper()
	worktree, err := clone.Worktree()
	if err == nil {
		err = worktree.AddWithOptions(&gogit.AddOptions{All: true})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	hash, err := worktree.Commit("m", &gogit.CommitOptions{Author: &object.Signature{Name: "t", Email: "t@example.com"}, AllowEmptyCommits: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, branch := range branches {
		reference := plumbing.NewHashReference(plumbing.NewRemoteReferenceName("origin", branch), hash)
		if err := clone.Storer.SetReference(reference); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) head(clone *gogit.Repository, branch string) {
	w.t.Helper()
	head := plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName(branch))
	if err := clone.Storer.SetReference(head); err != nil {
		w.t.Fatal(err)
	}
}

const branched = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
environments:
  dev: {}
  prod: {branch: env/prod, after: [dev]}
`

func TestPlan_branches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": branched, "a.yaml": before})
	clone := w.repository("main", "env/prod")
	options := w.options()
	options.Explicit = w.given("quay.io/acme/web:3")
	w.write("a.yaml", after)
	dev, prod := "dev/default proposed: requested: web 2 -> 3", "prod/default proposed: dev has: web 1 -> 2"
	preview := w.expect(options, dev, prod)
	if preview.Targets[0].Branch != "" || !preview.Targets[0].OnDisk || preview.Targets[1].Branch != "env/prod" || preview.Targets[1].OnDisk {
		t.Errorf("places: %+v", preview.Targets)
	}

	t.Log("a person's own branch stands for the default branch")
	w.head(clone, "feature/x")
	w.expect(options, dev, prod)

	t.Log("with the other branch checked out, the default branch is origin's")
	w.head(clone, "env/prod")
	preview = w.expect(options, "dev/default proposed: requested: web 1 -> 3", "prod/default waiting: would move back: web 2 -> 1")
	if preview.Targets[0].OnDisk || !preview.Targets[1].OnDisk {
		t.Errorf("places: %+v", preview.Targets)
	}

	t.Log("whose name the clone does not know")
	if err := clone.Storer.RemoveReference("refs/remotes/origin/HEAD"); err != nil {
		t.Fatal(err)
	}
	_, preview = w.plan(options)
	if target := preview.Targets[0]; target.State != "not checked out" || !strings.Contains(target.Reason.String(), "git remote set-head origin --auto") {
		t.Errorf("%s: %s", target.State, target.Reason)
	}
}

// Pipelines check out commits and no branches.
func TestPlan_detachedHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": branched, "a.yaml": before})
	clone := w.repository("main")
	w.write("a.yaml", after)
	w.commit(clone, "env/prod")
	origin := func(branch string) *plumbing.Reference {
		t.Helper()
		r, err := clone.Reference(plumbing.NewRemoteReferenceName("origin", branch), true)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	set := func(name plumbing.ReferenceName, hash plumbing.Hash) {
		t.Helper()
		if err := clone.Storer.SetReference(plumbing.NewHashReference(name, hash)); err != nil {
			t.Fatal(err)
		}
	}
	prodIsHere := func(want bool, when string) {
		t.Helper()
		options := w.options()
		options.Explicit = w.given("quay.io/acme/web:3")
		_, preview := w.plan(options)
		if dev, prod := preview.Targets[0].OnDisk, preview.Targets[1].OnDisk; dev == want || prod != want {
			t.Errorf("%s: dev is here %v, prod is here %v", when, dev, prod)
		}
	}
	main, prod := origin("main").Hash(), origin("env/prod").Hash()
	set(plumbing.HEAD, main)
	prodIsHere(false, "at the tip of the default branch")
	set(plumbing.HEAD, prod)
	prodIsHere(true, "at the tip of env/prod")
	set("refs/remotes/origin/feature/x", prod)
	prodIsHere(true, "at the tip of a branch without environments too")
	if err := clone.Storer.RemoveReference("refs/remotes/origin/HEAD"); err != nil {
		t.Fatal(err)
	}
	prodIsHere(false, "with another branch that may be the default one")
	if err := clone.Storer.RemoveReference("refs/remotes/origin/feature/x"); err != nil {
		t.Fatal(err)
	}
	prodIsHere(true, "at the tip of env/prod alone, the default branch unknown")
}

// An environment may write the default branch's name or leave it out.
func TestPlan_theDefaultBranchByItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".promoter.yaml": strings.NewReplacer("dev: {}", "dev: {paths: [dev], branch: main}", "branch: env/prod", "paths: [prod]").Replace(branched),
		"dev/a.yaml":     before,
		"prod/a.yaml":    before,
	})
	w.repository("main")
	options := w.options()
	options.Explicit = w.given("quay.io/acme/web:2")
	preview := w.expect(options, "dev/default proposed: requested: web 1 -> 2", "prod/default same: already up to date")
	if !preview.Targets[0].OnDisk || !preview.Targets[1].OnDisk {
		t.Errorf("places: %+v", preview.Targets)
	}
}

func TestPlan_branchWithoutAClone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": branched, "a.yaml": before})
	options := w.options()
	options.Explicit = w.given("quay.io/acme/web:2")
	w.expect(options,
		"dev/default proposed: requested: web 1 -> 2",
		"prod/default not checked out: branch env/prod: the folder is no Git clone")
}

func TestPlan_brokenBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": branched, "a.yaml": before})
	clone := w.repository("main")
	gone := plumbing.NewHashReference("refs/remotes/origin/env/prod", plumbing.NewHash("1234567890123456789012345678901234567890"))
	if err := clone.Storer.SetReference(gone); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.tryPlan(t.Context(), w.options())
	if err == nil || !strings.HasPrefix(err.Error(), "read the commit of origin/env/prod: ") {
		t.Errorf("error: %v", err)
	}
}
