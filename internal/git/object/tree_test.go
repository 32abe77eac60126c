package object_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gogitobject "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

func TestTree_modes(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("main", c.Commit(c.Tree(
		gittest.Entry(filemode.Regular, "a.yaml", c.Blob("a")),
		gittest.Entry(filemode.Dir, "empty", c.Tree()),
		gittest.Entry(filemode.Symlink, "link", c.Blob("../outside")),
		gittest.Entry(filemode.Submodule, "module", plumbing.NewHash("1234567890123456789012345678901234567890")),
		gittest.Entry(filemode.Deprecated, "old.yaml", c.Blob("group writable")),
		gittest.Entry(filemode.Executable, "run.sh", c.Blob("#!")),
		gittest.Entry(filemode.Regular, "\xff\xfe odd\nname", c.Blob("bytes")),
	)))
	got, err := list(treeOf(t, c, "main"))
	want := map[string]string{
		"a.yaml": "a", "link": "symlink ../outside", "module": "submodule",
		"old.yaml": "group writable", "run.sh": "#!", "\xff\xfe odd\nname": "bytes",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	module, err := treeOf(t, c, "main").Entry("module")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := module.Read(10); fault.KindOf(err) != fault.NotFound || errors.Is(err, object.ErrMissing) {
		t.Errorf("a submodule is read: %v", err)
	}
}

// A tree can name an object of another kind. That is an error of the repository, and not of its copy.
func TestTree_namesAnotherKind(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("main", c.Commit(c.Tree(gittest.Entry(filemode.Regular, "a.yaml", c.Tree()))))
	entry, err := treeOf(t, c, "main").Entry("a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Read(10); fault.KindOf(err) != fault.Invalid || errors.Is(err, object.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// No honest Git writes these names: they lead out of the folder.
func TestTree_hostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..", ".", ".git", "a/b", "/", "../../etc/passwd", "/etc/passwd"} {
		for kind, mode := range map[string]filemode.FileMode{"file": filemode.Regular, "folder": filemode.Dir} {
			t.Run(fmt.Sprintf("%q as a %s", name, kind), func(t *testing.T) {
				t.Parallel()
				c := gittest.NewClone(t)
				hash := c.Blob("x")
				if mode == filemode.Dir {
					hash = c.Files(map[string]string{"x": "x"})
				}
				inner := c.Tree(gittest.Entry(mode, name, hash))
				c.Origin("main", c.Commit(c.Tree(gittest.Entry(filemode.Dir, "apps", inner))))
				got, err := list(treeOf(t, c, "main"))
				if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "is not a valid file name") {
					t.Errorf("error: %v", err)
				}
				if len(got) > 0 {
					t.Errorf("files: %v", got)
				}
			})
		}
	}
}

// chain makes a tree of folders in folders around one file.
func chain(c *gittest.Clone, depth int) plumbing.Hash {
	tree := c.Files(map[string]string{"deep.yaml": "x"})
	for range depth {
		tree = c.Tree(gittest.Entry(filemode.Dir, "d", tree))
	}
	return tree
}

func TestTree_depth(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("deep", c.Commit(chain(c, 500)))
	c.Origin("deeper", c.Commit(chain(c, 600)))
	if got, err := list(treeOf(t, c, "deep")); err != nil || len(got) != 1 {
		t.Errorf("%d files, %v", len(got), err)
	}
	_, err := list(treeOf(t, c, "deeper"))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "directories are nested deeper than 512 in deeper") {
		t.Errorf("error: %v", err)
	}
}

// Forty trees that name each other twice stand for a million million files.
func TestTree_manyFilesFromFewObjects(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	tree := c.Tree(gittest.Entry(filemode.Regular, "a", c.Blob("x")), gittest.Entry(filemode.Regular, "b", c.Blob("x")))
	hollow := c.Tree()
	for range 40 {
		tree = c.Tree(gittest.Entry(filemode.Dir, "a", tree), gittest.Entry(filemode.Dir, "b", tree))
		hollow = c.Tree(gittest.Entry(filemode.Dir, "a", hollow), gittest.Entry(filemode.Dir, "b", hollow))
	}
	c.Origin("files", c.Commit(tree))
	c.Origin("folders", c.Commit(hollow))
	for branch, want := range map[string]string{"files": "files has more than 1000 files", "folders": "folders has more than 2000 directories"} {
		bounded := treeOf(t, c, branch)
		bounded.SetLimits(1000, 2000)
		_, err := list(bounded)
		if fault.KindOf(err) != fault.Invalid || err.Error() != want {
			t.Errorf("%s: %v", branch, err)
		}
	}
}

func TestTree_stopsWhenTheReaderDoes(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("main", c.Commit(c.Files(map[string]string{"a/b/c": "", "a/b/d": "", "e": ""})))
	var seen []string
	for e, err := range treeOf(t, c, "main").Files() {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Path)
		break
	}
	if diff := cmp.Diff([]string{"a/b/c"}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestEntry_Read(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	c.Origin("main", c.Commit(c.Tree(
		gittest.Entry(filemode.Regular, "gone", plumbing.NewHash("1234567890123456789012345678901234567890")),
		gittest.Entry(filemode.Regular, "large", c.Blob(strings.Repeat("x", 100))),
		gittest.Entry(filemode.Regular, "tree", c.Tree()),
	)))
	entries := map[string]object.Entry{}
	for e, err := range treeOf(t, c, "main").Files() {
		if err != nil {
			t.Fatal(err)
		}
		entries[e.Path] = e
	}
	for limit, want := range map[int64]int{0: 1, 10: 11, 99: 100, 100: 100, 1000: 100} {
		content, err := entries["large"].Read(limit)
		if err != nil || len(content) != want {
			t.Errorf("limit %d: %d bytes, %v", limit, len(content), err)
		}
	}
	for _, name := range []string{"gone", "tree"} {
		_, err := entries[name].Read(10)
		if err == nil || !strings.HasPrefix(err.Error(), "read the blob of "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (r *repo) tree(t testing.TB, commit object.ID) *object.Tree {
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
	commit := made.write(t, draft(object.ID{}, map[string]string{"a/b/c": "", "a/b/d/e": "", "a/f": "", "g/h": "", "i": ""}))
	r := openRepo(made.dir)
	tree := r.tree(t, commit)
	r.store.trees = 0
	asked := map[string]object.ID{}
	var seen []string
	for e, err := range tree.Walk(func(folder string, id object.ID) bool {
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
		if want := parse(t, gittest.Exec(t, r.dir, "rev-parse", commit.String()+":"+folder)); asked[folder] != want {
			t.Errorf("%s: asked with %s, want %s", folder, asked[folder], want)
		}
	}
	if len(asked) != 3 || r.store.trees != 3 || r.store.blobs != 0 {
		t.Errorf("asked for %d folders, read %d trees and %d blobs", len(asked), r.store.trees, r.store.blobs)
	}
	if want := parse(t, gittest.Exec(t, r.dir, "rev-parse", commit.String()+"^{tree}")); tree.ID() != want {
		t.Errorf("the tree is %s, want %s", tree.ID(), want)
	}
}

func TestTree_Entry(t *testing.T) {
	t.Parallel()
	made := newRepo(t)
	commit := made.write(t, draft(object.ID{}, base()))
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
	if string(content) != "newTag: 1.4.2 # released\n" || err != nil || got.Path != "apps/web/prod/kustomization.yaml" || got.Mode != object.Regular {
		t.Errorf("%+v: %q, %v", got, content, err)
	}
	if want := parse(t, gittest.Exec(t, r.dir, "rev-parse", commit.String()+":"+got.Path)); got.ID != want {
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
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	tree := r.tree(t, object.ID(c.Commit(c.Tree(
		gittest.Entry(filemode.Dir, "gone", plumbing.NewHash("1234567890123456789012345678901234567890")),
		gittest.Entry(filemode.Dir, "odd", c.Put(plumbing.TreeObject, "777777 x\x00"+strings.Repeat("i", 20))),
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
	c := &gittest.Clone{T: t, Dir: made.dir, Storer: made.store}
	left := plumbing.NewHash("1234567890123456789012345678901234567890")
	gone := plumbing.NewHash("0234567890123456789012345678901234567890")
	commit := object.ID(c.Commit(c.Tree(gittest.Entry(filemode.Regular, "crds.yaml", left), gittest.Entry(filemode.Regular, "gone.yaml", gone), gittest.Entry(filemode.Regular, "here.yaml", c.Blob("x")))))
	tree, err := object.New(made.store, func(id object.ID) bool { return id == object.ID(left) }, object.NewCache()).Tree(commit)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"crds.yaml": true, "gone.yaml": false} {
		e, err := tree.Entry(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Read(10)
		if err == nil || errors.Is(err, object.ErrTooLarge) != want || fault.KindOf(err) == fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file of any size is one that the caller finds too large, not an error.
func TestEntry_Read_huge(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	commit := object.ID(c.Commit(c.Tree(gittest.Entry(filemode.Regular, "huge", c.Blob(strings.Repeat("x", 32<<20+1))))))
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
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	for words, id := range map[string]plumbing.Hash{
		"object not found":                plumbing.NewHash("1234567890123456789012345678901234567890"),
		"the tree is malformed at byte 0": c.Put(plumbing.TreeObject, "100644 a"),
		"has more than 33554432 bytes":    c.Put(plumbing.TreeObject, strings.Repeat("x", 32<<20+1)),
	} {
		got, err := list(r.tree(t, object.ID(c.Commit(id))))
		if err == nil || len(got) > 0 || fault.KindOf(err) == fault.NotFound || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
}

func TestTree_notHere(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	blob := gittest.Exec(t, r.dir, "hash-object", "-w", "--stdin")
	for name, id := range map[string]object.ID{"nothing": {}, "no object": {1}, "a blob": parse(t, blob)} {
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
		c := &gittest.Clone{T: t, Storer: memory.NewStorage()}
		hash := c.Put(plumbing.TreeObject, content)
		tree, err := object.New(c.Storer, nil, object.NewCache()).Tree(object.ID(c.Commit(hash)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range tree.Walk(func(string, object.ID) bool { return true }) {
			if err != nil {
				return
			}
			got = append(got, fmt.Sprint(e.Path, " ", e.ID))
		}
		decoded, err := gogitobject.GetTree(c.Storer, hash)
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

// A few trees with long names stand for more memory than any machine has: every
// file has its whole path.
func TestTree_longPaths(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	file := gittest.Entry(filemode.Regular, "f", c.Blob("x"))
	nested := func(name string, depth int) plumbing.Hash {
		tree := c.Tree(file)
		for range depth {
			tree = c.Tree(gittest.Entry(filemode.Dir, name, tree))
		}
		return tree
	}
	fits := strings.Repeat("n", 4000)
	c.Origin("fits", c.Commit(nested(fits, 1)))
	c.Origin("one", c.Commit(nested(strings.Repeat("n", 5000), 1)))
	c.Origin("sum", c.Commit(nested(fits, 2)))
	c.Origin("file", c.Commit(c.Tree(gittest.Entry(filemode.Regular, strings.Repeat("n", 5000), file.Hash))))
	if got, err := list(treeOf(t, c, "fits")); err != nil || len(got) != 1 {
		t.Errorf("%d files, %v", len(got), err)
	}
	for _, branch := range []string{"one", "sum", "file"} {
		_, err := list(treeOf(t, c, branch))
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "a path has more than 4096 bytes") || len(err.Error()) > 1000 {
			t.Errorf("%s: %.2000v", branch, err)
		}
	}
}

// What a repository calls its files reaches terminals in errors.
func TestTree_namesInErrors(t *testing.T) {
	t.Parallel()
	c := gittest.NewClone(t)
	name := "\x1b[2J\u202egod" + strings.Repeat("n", 3000)
	c.Origin("main", c.Commit(c.Tree(gittest.Entry(filemode.Dir, name, plumbing.NewHash("1234567890123456789012345678901234567890")))))
	tree := treeOf(t, c, "main")
	_, walked := list(tree)
	_, below := tree.Entry(name + "/a")
	_, none := tree.Entry("no" + name)
	for i, err := range []error{walked, below, none} {
		if err == nil || len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d: %q", i, fmt.Sprintf("%.2000v", err))
		}
	}
}
