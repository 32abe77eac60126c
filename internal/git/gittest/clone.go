package gittest

import (
	"maps"
	"slices"
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
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(kind)
	_, err := encoded.Write([]byte(content))
	if err == nil {
		_, err = c.Storer.SetEncodedObject(encoded)
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return encoded.Hash()
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
	var entries []TreeEntry
	directories := map[string]map[string]string{}
	for name, content := range contents {
		directory, rest, deep := strings.Cut(name, "/")
		if !deep {
			entries = append(entries, Entry(filemode.Regular, name, c.Blob(content)))
			continue
		}
		if directories[directory] == nil {
			directories[directory] = map[string]string{}
		}
		directories[directory][rest] = content
	}
	for _, name := range slices.Sorted(maps.Keys(directories)) {
		entries = append(entries, Entry(filemode.Dir, name, c.Files(directories[name])))
	}
	sortName := func(e TreeEntry) string {
		if e.Mode == filemode.Dir {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortFunc(entries, func(a, b TreeEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	return c.Tree(entries...)
}

// Commit stores a commit of the tree.
func (c *Clone) Commit(tree plumbing.Hash) plumbing.Hash {
	c.T.Helper()
	by := object.Signature{Name: "t", Email: "t@example.com", When: time.Unix(1_700_000_000, 0).UTC()}
	commit := object.Commit{Author: by, Committer: by, Message: "m", TreeHash: tree}
	encoded := &plumbing.MemoryObject{}
	err := commit.Encode(encoded)
	if err == nil {
		_, err = c.Storer.SetEncodedObject(encoded)
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return encoded.Hash()
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
