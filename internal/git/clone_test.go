package git_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"

	"promoter/internal/git"
)

// clone is a clone on disk whose objects and references tests make by hand.
type clone struct {
	t      *testing.T
	dir    string
	storer storage.Storer
}

// newClone makes an empty clone with main checked out.
func newClone(t *testing.T) *clone {
	t.Helper()
	dir := t.TempDir()
	repository, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: "refs/heads/main"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &clone{t: t, dir: dir, storer: repository.Storer}
}

// entry is one line of a hand-made tree.
type entry struct {
	mode filemode.FileMode
	name string
	hash plumbing.Hash
}

func (c *clone) put(kind plumbing.ObjectType, content string) plumbing.Hash {
	c.t.Helper()
	made := c.storer.NewEncodedObject()
	made.SetType(kind)
	writer, err := made.Writer()
	if err == nil {
		_, err = writer.Write([]byte(content))
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	hash, err := c.storer.SetEncodedObject(made)
	if err != nil {
		c.t.Fatal(err)
	}
	return hash
}

func (c *clone) blob(content string) plumbing.Hash { return c.put(plumbing.BlobObject, content) }

// tree writes the entries as they are: no library would write the hostile ones.
func (c *clone) tree(entries ...entry) plumbing.Hash {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(strings.TrimLeft(e.mode.String(), "0") + " " + e.name + "\x00")
		b.Write(e.hash[:])
	}
	return c.put(plumbing.TreeObject, b.String())
}

// files writes a tree of regular files by their paths.
func (c *clone) files(contents map[string]string) plumbing.Hash {
	var entries []entry
	folders := map[string]map[string]string{}
	for name, content := range contents {
		folder, rest, deep := strings.Cut(name, "/")
		if !deep {
			entries = append(entries, entry{filemode.Regular, name, c.blob(content)})
			continue
		}
		if folders[folder] == nil {
			folders[folder] = map[string]string{}
		}
		folders[folder][rest] = content
	}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		entries = append(entries, entry{filemode.Dir, name, c.files(folders[name])})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(sortName(a), sortName(b)) })
	return c.tree(entries...)
}

// sortName is what Git orders entries by.
func sortName(e entry) string {
	if e.mode == filemode.Dir {
		return e.name + "/"
	}
	return e.name
}

// commit writes a commit of the tree.
func (c *clone) commit(tree plumbing.Hash) plumbing.Hash {
	c.t.Helper()
	who := object.Signature{Name: "t", Email: "t@example.com", When: time.Unix(1_700_000_000, 0).UTC()}
	commit := object.Commit{Author: who, Committer: who, Message: "m", TreeHash: tree}
	made := c.storer.NewEncodedObject()
	if err := commit.Encode(made); err != nil {
		c.t.Fatal(err)
	}
	hash, err := c.storer.SetEncodedObject(made)
	if err != nil {
		c.t.Fatal(err)
	}
	return hash
}

// origin sets origin's branch as last fetched.
func (c *clone) origin(branch string, commit plumbing.Hash) {
	c.reference(plumbing.NewHashReference(plumbing.NewRemoteReferenceName("origin", branch), commit))
}

func (c *clone) reference(reference *plumbing.Reference) {
	c.t.Helper()
	if err := c.storer.SetReference(reference); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) open(folder string) *git.Checkout {
	c.t.Helper()
	return open(c.t, filepath.Join(c.dir, folder))
}

func open(t *testing.T, dir string) *git.Checkout {
	t.Helper()
	checkout, err := git.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	return checkout
}

// treeOf opens origin's branch.
func treeOf(t *testing.T, checkout *git.Checkout, branch string) *git.Tree {
	t.Helper()
	tree, err := checkout.Remote(branch)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// list reads a whole tree: contents by path, with the mode before what is no
// regular file.
func list(tree *git.Tree) (map[string]string, error) {
	found := map[string]string{}
	for e, err := range tree.Files() {
		if err != nil {
			return found, err
		}
		switch e.Mode {
		case git.Submodule:
			found[e.Path] = "submodule"
			continue
		case git.Symlink:
			found[e.Path] = "symlink "
		}
		content, err := e.Read(1 << 20)
		if err != nil {
			return found, err
		}
		found[e.Path] += string(content)
	}
	return found, nil
}
