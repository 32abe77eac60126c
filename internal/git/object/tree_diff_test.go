package object_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"promoter/internal/benchtree"
	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// diffTree asks Git which paths differ.
func (r *repo) diffTree(t testing.TB, a, b object.ID) []string {
	t.Helper()
	said := gittest.Exec(t, r.dir, "diff-tree", "-r", "-z", "--no-renames", "--name-only", a.String(), b.String())
	if said == "" {
		return nil
	}
	paths := strings.Split(strings.TrimSuffix(said, "\x00"), "\x00")
	for i := 1; i < len(paths); i++ { // a file that is a folder now is shown once
		if paths[i] == paths[i-1] {
			t.Fatalf("git shows %s twice", paths[i])
		}
	}
	return paths
}

func TestChanged_asGitDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 7))
	r := newRepo(t)
	files := map[string]string{}
	var commits []object.ID
	for range 25 {
		var parent object.ID
		if len(commits) > 0 {
			parent = commits[len(commits)-1]
		}
		commits = append(commits, r.write(t, randomDraft(random, parent, files)))
	}
	for range 60 {
		a, b := commits[random.IntN(len(commits))], commits[random.IntN(len(commits))]
		got, err := r.Changed(a, b)
		if diff := cmp.Diff(r.diffTree(t, a, b), got); diff != "" || err != nil {
			t.Errorf("%s and %s: %v (-git +got):\n%s", a, b, err, diff)
		}
	}
}

// Files, folders, links and submodules of one name.
func TestChanged_kinds(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	module := plumbing.NewHash("1234567890123456789012345678901234567890")
	commit := func(entries ...gittest.TreeEntry) object.ID { return object.ID(c.Commit(c.Tree(entries...))) }
	blob := c.Blob("x")
	directory := c.Files(map[string]string{"a/b": "x", "c": "y"})
	between := map[string]gittest.TreeEntry{
		"file": gittest.Entry(filemode.Regular, "n", blob), "executable": gittest.Entry(filemode.Executable, "n", blob), "link": gittest.Entry(filemode.Symlink, "n", blob),
		"module": gittest.Entry(filemode.Submodule, "n", module), "folder": gittest.Entry(filemode.Dir, "n", directory),
	}
	rest := gittest.Entry(filemode.Regular, "n.b", blob)
	for from, a := range between {
		for to, b := range between {
			before, after := commit(rest, a), commit(b, rest)
			if a.Mode != filemode.Dir {
				before = commit(a, rest)
			}
			if b.Mode == filemode.Dir {
				after = commit(rest, b)
			}
			got, err := r.Changed(before, after)
			if diff := cmp.Diff(r.diffTree(t, before, after), got); diff != "" || err != nil {
				t.Errorf("%s to %s: %v (-git +got):\n%s", from, to, err, diff)
			}
		}
	}
}

func TestChanged_nothingBefore(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	id := r.write(t, draft(object.ID{}, map[string]string{"a/b": "", "c": ""}))
	for _, pair := range [][2]object.ID{{id, {}}, {{}, id}} {
		got, err := r.Changed(pair[0], pair[1])
		if diff := cmp.Diff([]string{"a/b", "c"}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestChanged_hostile(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := &gittest.Clone{T: t, Dir: r.dir, Storer: r.store}
	id := r.write(t, draft(object.ID{}, base()))
	for name, test := range map[string]struct {
		tree  plumbing.Hash
		words string
	}{
		"a way out":    {c.Tree(gittest.Entry(filemode.Regular, "..", c.Blob("x"))), "is not a valid file name"},
		"out of order": {c.Tree(gittest.Entry(filemode.Regular, "b", c.Blob("x")), gittest.Entry(filemode.Regular, "a", c.Blob("x"))), "not in Git's order"},
		"deep":         {chain(c, 600), "directories are nested deeper than 512"},
	} {
		got, err := r.Changed(id, object.ID(c.Commit(test.tree)))
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.words) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, pair := range [][2]object.ID{{id, {1}}, {{1}, id}} {
		if _, err := r.Changed(pair[0], pair[1]); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a commit that is not here: %v", err)
		}
	}
}

// benchFiles are the files of a large tree by path.
func benchFiles(size benchtree.Size) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for file := range size.Files() {
			if !yield(file.Path, file.Content) {
				return
			}
		}
	}
}

// The cost stays with what is touched: reading, writing, comparing and collecting
// five files of 1,000 reads only the folders above them.
func TestWrite_costStaysWithWhatIsTouched(t *testing.T) {
	t.Parallel()
	made := newRepo(t)
	parent := made.importFiles(t, "main", benchFiles(benchtree.Small()))
	r := openRepo(made.dir)
	d := draft(parent, nil)
	for env := range 5 {
		d.Write["apps/service-0042/overlays/env-"+string(rune('0'+env))+"/kustomization.yaml"] = []byte("new")
	}
	id := r.write(t, d)
	const above = 4 + 5 // the root, apps, service-0042, overlays and five environments
	if r.store.trees != above || r.store.blobs != 0 {
		t.Errorf("writing read %d trees and %d blobs, want %d and 0", r.store.trees, r.store.blobs, above)
	}
	r.store.trees = 0
	changed, err := r.Changed(parent, id)
	if len(changed) != 5 || err != nil || r.store.trees != 2*above || r.store.blobs != 0 {
		t.Errorf("comparing: %v, %v, read %d trees and %d blobs, want %d and 0", changed, err, r.store.trees, r.store.blobs, 2*above)
	}
	r.store.trees = 0
	lacking, err := r.NewObjects(t.Context(), id, parent)
	if len(lacking) != 1+above+1 || err != nil || r.store.trees != 2*above || r.store.blobs != 0 {
		t.Errorf("collecting: %d objects, %v, read %d trees and %d blobs", len(lacking), err, r.store.trees, r.store.blobs)
	}
	made.fsck(t, id)
}
