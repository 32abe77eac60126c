package git

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"promoter/internal/fault"
)

// Mode is what a tree entry is.
type Mode int

// The modes of entries; folders are walked and never shown.
const (
	Regular Mode = iota
	Symlink
	Submodule
)

// Entry is one file of a tree.
type Entry struct {
	Path string // slash separated, relative to the folder that was opened
	Mode Mode
	hash plumbing.Hash
	from *git.Repository
}

// Tree is the tree of a commit, or of a folder in it.
type Tree struct {
	repository *git.Repository
	root       *object.Tree
	branch     string
}

// treeOf returns the tree, entered at the checkout's folder. A folder that the
// branch does not have is an empty tree.
func (c *Checkout) treeOf(hash plumbing.Hash, branch string) (*Tree, error) {
	root, err := c.repository.TreeObject(hash)
	if err != nil {
		return nil, fmt.Errorf("read the tree of %s: %w", branch, err)
	}
	if c.prefix != "" {
		root, err = root.Tree(c.prefix)
	}
	if errors.Is(err, object.ErrDirectoryNotFound) {
		return &Tree{repository: c.repository, branch: branch}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder %s of %s: %w", c.prefix, branch, err)
	}
	return &Tree{repository: c.repository, root: root, branch: branch}, nil
}

// Files returns every file of the tree, in the order of Git. It stops after the
// first error.
func (t *Tree) Files() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if t.root != nil {
			t.walk(t.root, "", yield)
		}
	}
}

// maxDepth is how deep folders may lie in each other. Git itself has no limit;
// a hostile tree must not grow our stack without one.
const maxDepth = 512

func (t *Tree) walk(tree *object.Tree, folder string, yield func(Entry, error) bool) bool {
	if pathDepth(folder) > maxDepth {
		return yield(Entry{}, fault.New(fault.Invalid, "%s: folders lie deeper than %d in %s", folder[:64], maxDepth, t.branch)) && false
	}
	for _, entry := range tree.Entries {
		if !t.visit(entry, path.Join(folder, entry.Name), yield) {
			return false
		}
	}
	return true
}

func (t *Tree) visit(entry object.TreeEntry, name string, yield func(Entry, error) bool) bool {
	if !plainName(entry.Name) {
		return yield(Entry{}, fault.New(fault.Invalid, "%q is no name that a file can have in %s", entry.Name, t.branch)) && false
	}
	if entry.Mode == filemode.Dir {
		child, err := t.repository.TreeObject(entry.Hash)
		if err != nil {
			return yield(Entry{}, fmt.Errorf("read the folder %s of %s: %w", name, t.branch, err)) && false
		}
		return t.walk(child, name, yield)
	}
	return yield(Entry{Path: name, Mode: modeOf(entry.Mode), hash: entry.Hash, from: t.repository}, nil)
}

// plainName refuses what no honest Git writes: a name that leads out of its
// folder or into Git's own.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && name != ".git" && path.Base(name) == name
}

func pathDepth(folder string) int {
	depth := 0
	for _, r := range folder {
		if r == '/' {
			depth++
		}
	}
	return depth
}

func modeOf(mode filemode.FileMode) Mode {
	switch mode {
	case filemode.Symlink:
		return Symlink
	case filemode.Submodule:
		return Submodule
	default:
		return Regular
	}
}

// Read returns the content of the entry: at most limit bytes and one more, by
// which the caller sees that there are too many.
func (e Entry) Read(limit int64) ([]byte, error) {
	blob, err := e.from.BlobObject(e.hash)
	if err != nil {
		return nil, fmt.Errorf("read the blob of %s: %w", e.Path, err)
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read the blob of %s: %w", e.Path, err)
	}
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if closing := reader.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("read the blob of %s: %w", e.Path, err)
	}
	return content, nil
}
