package git

import (
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

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
	limit      size
}

// treeOf returns the tree, entered at the checkout's folder. A folder that the
// branch does not have is an empty tree.
func (c *Checkout) treeOf(hash plumbing.Hash, branch string) (*Tree, error) {
	root, err := c.repository.TreeObject(hash)
	if err != nil {
		return nil, fmt.Errorf("read the tree of %s: %w", branch, err)
	}
	for name := range strings.SplitSeq(c.prefix, "/") {
		if root, err = enter(root, name, c.repository); err != nil {
			return nil, fmt.Errorf("read the folder %s of %s: %w", c.prefix, branch, err)
		}
	}
	return &Tree{repository: c.repository, root: root, branch: branch, limit: maxSize()}, nil
}

// enter returns a folder of a tree; the empty name is the tree itself. Nil: there
// is no folder of that name, or none any more.
func enter(tree *object.Tree, name string, in *git.Repository) (*object.Tree, error) {
	if tree == nil || name == "" {
		return tree, nil
	}
	for _, entry := range tree.Entries {
		if entry.Name == name && entry.Mode == filemode.Dir {
			return in.TreeObject(entry.Hash) //nolint:wrapcheck // the caller names the folder
		}
	}
	return nil, nil
}

// Files returns every file of the tree, in the order of Git. It stops after the
// first error.
func (t *Tree) Files() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if t.root != nil {
			w := walk{Tree: t, left: t.limit, yield: yield}
			w.enter(t.root, "")
		}
	}
}

// walk is one way through a tree.
type walk struct {
	*Tree
	left  size // what may still be seen
	yield func(Entry, error) bool
}

// size is how large a tree is, or may be.
type size struct{ files, folders int }

// maxSize bounds the work on one tree. A few kilobytes of trees that name each
// other many times stand for more files than any disk holds.
func maxSize() size { return size{files: 1_000_000, folders: 200_000} }

// maxDepth is how deep folders may lie in each other. Git itself has no limit;
// a hostile tree must not grow our stack without one.
const maxDepth = 512

func (w *walk) enter(tree *object.Tree, folder string) bool {
	if strings.Count(folder, "/") > maxDepth {
		return w.fail(fault.New(fault.Invalid, "folders lie deeper than %d in %s, below %s", maxDepth, w.branch, folder[:64]))
	}
	for _, entry := range tree.Entries {
		if !w.visit(entry, path.Join(folder, entry.Name)) {
			return false
		}
	}
	return true
}

func (w *walk) visit(entry object.TreeEntry, name string) bool {
	if !plainName(entry.Name) {
		return w.fail(fault.New(fault.Invalid, "%q is no name that a file can have in %s", entry.Name, w.branch))
	}
	if entry.Mode != filemode.Dir {
		if w.left.files--; w.left.files < 0 {
			return w.fail(fault.New(fault.Invalid, "%s has more than %d files", w.branch, w.limit.files))
		}
		return w.yield(Entry{Path: name, Mode: modeOf(entry.Mode), hash: entry.Hash, from: w.repository}, nil)
	}
	if w.left.folders--; w.left.folders < 0 {
		return w.fail(fault.New(fault.Invalid, "%s has more than %d folders", w.branch, w.limit.folders))
	}
	child, err := w.repository.TreeObject(entry.Hash)
	if err != nil {
		return w.fail(fmt.Errorf("read the folder %s of %s: %w", name, w.branch, err))
	}
	return w.enter(child, name)
}

func (w *walk) fail(err error) bool {
	w.yield(Entry{}, err)
	return false
}

// plainName refuses what no honest Git writes: a name that leads out of its
// folder or into Git's own.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && name != ".git" && !strings.Contains(name, "/")
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
