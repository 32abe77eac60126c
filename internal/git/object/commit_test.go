package object_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// merged is a history with a merge: its first parents are the chain's commits.
func merged(t testing.TB, r *repo) (chain []object.ID) {
	t.Helper()
	parent := r.write(t, draft(object.ID{}, base()))
	chain = []object.ID{parent}
	for _, content := range []string{"1", "2"} {
		parent = r.write(t, draft(parent, map[string]string{"b": content}))
		chain = append(chain, parent)
	}
	side := r.write(t, draft(chain[0], map[string]string{"side": "s"}))
	joined := r.write(t, draft(parent, map[string]string{"side": "s"}))
	merge := parse(t, gittest.Exec(t, r.dir, "-c", "user.name=t", "-c", "user.email=t@example.com",
		"commit-tree", joined.String()+"^{tree}", "-p", parent.String(), "-p", side.String(), "-m", "merge"))
	chain = append(chain, merge)
	gittest.Exec(t, r.dir, "update-ref", "refs/heads/main", merge.String())
	slices.Reverse(chain)
	return chain
}

func idsOf(t testing.TB, r *repo, from object.ID) (ids []object.ID, last object.Commit) {
	t.Helper()
	for commit, err := range r.History(from) {
		if err != nil {
			t.Fatal(err)
		}
		ids, last = append(ids, commit.ID), commit
	}
	return ids, last
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	chain := merged(t, r)
	got, last := idsOf(t, r, chain[0])
	if diff := cmp.Diff(chain, got); diff != "" || last.Shallow {
		t.Errorf("shallow %t (-want +got):\n%s", last.Shallow, diff)
	}
	for commit, err := range r.History(chain[0]) {
		if err != nil || len(commit.Parents) != 2 {
			t.Errorf("%+v, %v", commit, err)
		}
		break
	}
}

// A clone of depth 2 ends at a commit that has parents and is Shallow.
func TestHistory_shallowBoundary(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	chain := merged(t, origin)
	gittest.Exec(t, origin.dir, "repack", "-qadb")
	dir := filepath.Join(t.TempDir(), "clone")
	gittest.Exec(t, origin.dir, "clone", "-q", "--bare", "--depth", "2", "file://"+origin.dir, dir)
	r := openRepo(dir)
	got, last := idsOf(t, r, chain[0])
	if diff := cmp.Diff(chain[:2], got); diff != "" || !last.Shallow || len(last.Parents) != 1 {
		t.Errorf("shallow %t (-want +got):\n%s", last.Shallow, diff)
	}
	gittest.Exec(t, dir, "fetch", "-q", "--unshallow")
	if got, last := idsOf(t, openRepo(dir), chain[0]); len(got) != len(chain) || last.Shallow {
		t.Errorf("deepened: %v, shallow %t", got, last.Shallow)
	}
}

func TestHistory_missing(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	orphaned := object.ID(c.Put(plumbing.CommitObject, "tree "+object.ID{}.String()+"\nparent "+object.ID{1}.String()+"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nm\n"))
	var seen int
	var failed error
	for _, err := range r.History(orphaned) {
		seen, failed = seen+1, err
	}
	if seen != 2 || failed == nil || fault.KindOf(failed) == fault.NotFound || !strings.Contains(failed.Error(), object.ID{1}.String()) {
		t.Errorf("%d steps, %v", seen, failed)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	d := draft(object.ID{}, base())
	d.Trailers = object.Trailers{{Key: "Promoter-Environment", Value: "prod"}}
	d.Author = object.Signature{Name: "A", Email: "a@example.com", When: time.Unix(1_600_000_000, 0).In(time.FixedZone("", 19800))}
	id := r.write(t, d)
	got, err := r.Commit(id)
	want := object.Commit{
		ID: id, Tree: parse(t, gittest.Exec(t, r.dir, "rev-parse", id.String()+"^{tree}")), Author: d.Author, Committer: d.Committer,
		Message: "Move web\n\nPromoter-Environment: prod\n", Trailers: d.Trailers,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, offset := got.Author.When.Zone(); offset != 19800 {
		t.Errorf("the author's offset is %d", offset)
	}
}

func TestCommit_malformed(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	for _, content := range []string{"", "tree x\n", "author a <a> 1 +0000\n\n", strings.Repeat("x", 32<<20+1)} {
		id := object.ID(c.Put(plumbing.CommitObject, content))
		if got, err := r.Commit(id); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), id.String()) {
			t.Errorf("%.20q: %+v, %v", content, got, err)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	const text = "0123456789abcdef0123456789abcdef01234567"
	id, err := object.ParseID(text)
	if id.String() != text || id.IsZero() || err != nil {
		t.Errorf("%s, %v", id, err)
	}
	for _, text := range []string{"", "main", text[:39], text + "0", text[:39] + "g", strings.Repeat("x", 1000)} {
		if id, err := object.ParseID(text); fault.KindOf(err) != fault.Invalid || !id.IsZero() || len(err.Error()) > 200 {
			t.Errorf("%.50q: %s, %v", text, id, err)
		}
	}
}
