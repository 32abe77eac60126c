package git_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
)

func (r *repo) tree(t testing.TB, commit git.ID) *git.Tree {
	t.Helper()
	tree, err := r.Tree(commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// A folder that is known is neither entered nor read.
func TestTree_Walk_skipsWhatIsKnown(t *testing.T) {
	t.Parallel()
	made := newRepo(t)
	commit := made.write(t, draft(git.ID{}, map[string]string{"a/b/c": "", "a/b/d/e": "", "a/f": "", "g/h": "", "i": ""}))
	r := openRepo(made.dir)
	tree := r.tree(t, commit)
	r.store.trees = 0
	asked := map[string]git.ID{}
	var seen []string
	for e, err := range tree.Walk(func(folder string, id git.ID) bool {
		asked[folder] = id
		return folder == "a/b"
	}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Path)
	}
	if diff := cmp.Diff([]string{"a/f", "g/h", "i"}, seen); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, folder := range []string{"a", "a/b", "g"} {
		if want := parse(t, askGit(t, r.dir, "rev-parse", commit.String()+":"+folder)); asked[folder] != want {
			t.Errorf("%s: asked with %s, want %s", folder, asked[folder], want)
		}
	}
	if len(asked) != 3 || r.store.trees != 3 || r.store.blobs != 0 {
		t.Errorf("asked for %d folders, read %d trees and %d blobs", len(asked), r.store.trees, r.store.blobs)
	}
	if want := parse(t, askGit(t, r.dir, "rev-parse", commit.String()+"^{tree}")); tree.ID() != want {
		t.Errorf("the tree is %s, want %s", tree.ID(), want)
	}
}

func TestTree_Entry(t *testing.T) {
	t.Parallel()
	made := newRepo(t)
	commit := made.write(t, draft(git.ID{}, base()))
	r := openRepo(made.dir)
	tree := r.tree(t, commit)
	r.store.trees = 0
	got, err := tree.Entry("apps/web/prod/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if r.store.trees != 4 || r.store.blobs != 0 {
		t.Errorf("read %d trees and %d blobs", r.store.trees, r.store.blobs)
	}
	content, err := got.Read(1000)
	if string(content) != "newTag: 1.4.2 # released\n" || err != nil || got.Path != "apps/web/prod/kustomization.yaml" || got.Mode != git.Regular {
		t.Errorf("%+v: %q, %v", got, content, err)
	}
	if want := parse(t, askGit(t, r.dir, "rev-parse", commit.String()+":"+got.Path)); got.ID != want {
		t.Errorf("the blob is %s, want %s", got.ID, want)
	}
	for _, name := range []string{"", "/", "no", "a", "a/", "a/c", "a/no", "b/x", "apps/web/prod/kustomization.yaml/x", "/b", "./b", "a/../b"} {
		if got, err := tree.Entry(name); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
}

func TestTree_Entry_unreadable(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &clone{t: t, dir: r.dir, storer: r.store}
	tree := r.tree(t, git.ID(c.commit(c.tree(
		entry{filemode.Dir, "gone", plumbing.NewHash("1234567890123456789012345678901234567890")},
		entry{filemode.Dir, "odd", c.put(plumbing.TreeObject, "777777 x\x00"+strings.Repeat("i", 20))},
	))))
	for name, want := range map[string]string{"gone/x": "read gone/x of ", "odd/x": "the tree is malformed at byte 0"} {
		if _, err := tree.Entry(name); err == nil || fault.KindOf(err) == fault.NotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A blob that the fetch left on the server is a large file, not a broken mirror.
func TestEntry_Read_tooLarge(t *testing.T) {
	t.Parallel()
	made := newRepo(t)
	c := &clone{t: t, dir: made.dir, storer: made.store}
	left := plumbing.NewHash("1234567890123456789012345678901234567890")
	gone := plumbing.NewHash("0234567890123456789012345678901234567890")
	commit := git.ID(c.commit(c.tree(entry{filemode.Regular, "crds.yaml", left}, entry{filemode.Regular, "gone.yaml", gone}, entry{filemode.Regular, "here.yaml", c.blob("x")})))
	tree, err := git.NewObjects(made.store, func(id git.ID) bool { return id == git.ID(left) }).Tree(commit)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"crds.yaml": true, "gone.yaml": false} {
		e, err := tree.Entry(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Read(10)
		if err == nil || errors.Is(err, git.ErrTooLarge) != want || fault.KindOf(err) == fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file of any size is one that the caller finds too large, not an error.
func TestEntry_Read_huge(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &clone{t: t, dir: r.dir, storer: r.store}
	commit := git.ID(c.commit(c.tree(entry{filemode.Regular, "huge", c.blob(strings.Repeat("x", 32<<20+1))})))
	e, err := r.tree(t, commit).Entry("huge")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := e.Read(1 << 20); len(content) != 1<<20+1 || err != nil {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

func TestTree_Walk_broken(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &clone{t: t, dir: r.dir, storer: r.store}
	for words, id := range map[string]plumbing.Hash{
		"it is not here":                  plumbing.NewHash("1234567890123456789012345678901234567890"),
		"the tree is malformed at byte 0": c.put(plumbing.TreeObject, "100644 a"),
		"has more than 33554432 bytes":    c.put(plumbing.TreeObject, strings.Repeat("x", 32<<20+1)),
	} {
		got, err := list(r.tree(t, git.ID(c.commit(id))))
		if err == nil || len(got) > 0 || fault.KindOf(err) == fault.NotFound || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
}

func TestTree_notHere(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	blob := askGit(t, r.dir, "hash-object", "-w", "--stdin")
	for name, id := range map[string]git.ID{"nothing": {}, "no object": {1}, "a blob": parse(t, blob)} {
		if _, err := r.Tree(id); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), id.String()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzTree reads any bytes as a tree: what is yielded is what the library's own
// decoder sees.
func FuzzTree(f *testing.F) {
	id := strings.Repeat("i", 20)
	for _, tree := range []string{"", "100644 a\x00" + id, "40000 d\x00" + id + "120000 l\x00" + id, "100664 o\x00" + id, "160000 m\x00" + id, "100644 a\x00", "0 a\x00" + id, "100644  \x00" + id, "9 a\x00" + id, "040000 d\x00" + id} {
		f.Add(tree)
	}
	f.Fuzz(func(t *testing.T, content string) {
		c := &clone{t: t, storer: memory.NewStorage()}
		hash := c.put(plumbing.TreeObject, content)
		tree, err := git.NewObjects(c.storer, nil).Tree(git.ID(c.commit(hash)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range tree.Walk(func(string, git.ID) bool { return true }) {
			if err != nil {
				return
			}
			got = append(got, fmt.Sprint(e.Path, " ", e.ID))
		}
		decoded, err := object.GetTree(c.storer, hash)
		if err != nil {
			t.Fatalf("%q: the library refuses it: %v", content, err)
		}
		var want []string
		for _, e := range decoded.Entries {
			if e.Mode != filemode.Dir {
				want = append(want, fmt.Sprint(e.Name, " ", e.Hash))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
	})
}
