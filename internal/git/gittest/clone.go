package gittest

import (
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"
)

// Clone is a clone whose objects and references a test writes by hand, including
// objects that Git would not write.
type Clone struct {
	T      testing.TB
	Dir    string
	Storer storage.Storer
}

// NewClone creates an empty clone with main checked out.
func NewClone(t testing.TB) *Clone {
	t.Helper()
	dir := t.TempDir()
	repository, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: "refs/heads/main"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Clone{T: t, Dir: dir, Storer: repository.Storer}
}

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Mode filemode.FileMode
	Name string
	Hash plumbing.Hash
}

// Put stores an object.
func (c *Clone) Put(kind plumbing.ObjectType, content string) plumbing.Hash {
	c.T.Helper()
	id, err := put(c.Storer, kind, content)
	if err != nil {
		c.T.Fatal(err)
	}
	return id
}

// Blob stores a blob.
func (c *Clone) Blob(content string) plumbing.Hash { return c.Put(plumbing.BlobObject, content) }

// Tree stores a tree of exactly these entries, in this order.
func (c *Clone) Tree(entries ...TreeEntry) plumbing.Hash {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(strings.TrimLeft(e.Mode.String(), "0") + " " + e.Name + "\x00")
		b.Write(e.Hash[:])
	}
	return c.Put(plumbing.TreeObject, b.String())
}

// Files stores a tree of regular files by path.
func (c *Clone) Files(contents map[string]string) plumbing.Hash {
	c.T.Helper()
	tree, err := withFiles(c.Storer, plumbing.ZeroHash, contents)
	if err != nil {
		c.T.Fatal(err)
	}
	return tree
}

// Commit stores a commit of the tree.
func (c *Clone) Commit(tree plumbing.Hash) plumbing.Hash {
	c.T.Helper()
	by := object.Signature{Name: "t", Email: "t@example.com", When: time.Unix(1_700_000_000, 0).UTC()}
	commit := object.Commit{Author: by, Committer: by, Message: "m", TreeHash: tree}
	id, err := store(c.Storer, commit.Encode)
	if err != nil {
		c.T.Fatal(err)
	}
	return id
}

// Origin sets a branch of origin as it was last fetched.
func (c *Clone) Origin(branch string, commit plumbing.Hash) {
	c.Reference(plumbing.NewHashReference(plumbing.NewRemoteReferenceName("origin", branch), commit))
}

// Reference sets a reference.
func (c *Clone) Reference(reference *plumbing.Reference) {
	c.T.Helper()
	if err := c.Storer.SetReference(reference); err != nil {
		c.T.Fatal(err)
	}
}

// Entry returns a tree entry.
func Entry(mode filemode.FileMode, name string, hash plumbing.Hash) TreeEntry {
	return TreeEntry{Mode: mode, Name: name, Hash: hash}
}
