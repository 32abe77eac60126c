package object

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// The limits of one tree. A few kilobytes of trees that name each other repeatedly
// can stand for more files than any disk holds.
const (
	maxFiles       = 1_000_000
	maxDirectories = 200_000
	// maxDepth is how deep directories may be nested. Git has no limit, but the
	// recursion here needs one.
	maxDepth = 512
	// maxPath is the longest path in bytes that is read or written. Longer paths
	// cannot be checked out.
	maxPath = 4096
)

var errTooDeep = fault.New(fault.Invalid, "directories are nested deeper than %d", maxDepth)

// Mode is the kind of a file in a tree.
type Mode int

// The kinds of files. Directories are walked, not listed.
const (
	Regular Mode = iota
	Symlink
	Submodule
)

// Entry is one file of a tree. Its content is read on demand, so that a caller who
// knows the ID already can skip the read.
type Entry struct {
	Path  string // slash-separated, relative to the root of the Tree
	Mode  Mode
	ID    ID // of the blob, or of a submodule's commit
	store *Store
}

// File returns an entry from an earlier listing, without checking that it exists.
func (s *Store) File(path string, mode Mode, id ID) Entry {
	return Entry{Path: path, Mode: mode, ID: id, store: s}
}

// Read returns the content of the file, truncated to limit+1 bytes: a result longer
// than limit means that the file is too large for the caller. A blob that the
// server left out because of its size is ErrTooLarge.
func (e Entry) Read(limit int64) ([]byte, error) {
	if e.Mode == Submodule { // its commit is of another repository
		return nil, fault.New(fault.NotFound, "read %s: it is a submodule", display(e.Path))
	}
	content, err := e.store.encoded.read(plumbing.BlobObject, e.ID, limit+1)
	switch {
	case errors.Is(err, ErrMissing) && e.store.tooLarge(e.ID):
		err = ErrTooLarge
	case errors.Is(err, ErrMissing):
		e.store.encoded.report(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the blob of %s: %w", display(e.Path), err)
	}
	return content, nil
}

// Tree is the tree of a commit, or of a directory in it.
type Tree struct {
	store          *Store
	root           ID     // zero: the directory does not exist
	name           string // of the branch or commit, for errors
	maxFiles       int
	maxDirectories int
}

// Tree returns the tree of a commit. It fails with NotFound if the commit is not
// stored.
func (s *Store) Tree(commit ID) (*Tree, error) {
	found, err := s.Commit(commit)
	if err != nil {
		return nil, err
	}
	return newTree(s, found.Tree, commit.String()), nil
}

// Subtree returns a directory of a tree; the empty path is the tree itself. A
// directory that does not exist is an empty Tree. The name is used in errors.
func (s *Store) Subtree(tree ID, directory, name string) (*Tree, error) {
	if _, err := s.encoded.readTree(tree); err != nil {
		return nil, fmt.Errorf("read the tree of %s: %w", name, err)
	}
	if directory == "" {
		return newTree(s, tree, name), nil
	}
	for segment := range strings.SplitSeq(directory, "/") {
		found, err := s.encoded.findEntry(tree, segment)
		if err == nil && found.kind == kindDirectory {
			_, err = s.encoded.readTree(found.id)
		}
		if err != nil {
			return nil, fmt.Errorf("read the directory %s of %s: %w", directory, name, err)
		}
		if found.kind != kindDirectory {
			return newTree(s, ID{}, name), nil
		}
		tree = found.id
	}
	return newTree(s, tree, name), nil
}

func newTree(s *Store, root ID, name string) *Tree {
	return &Tree{store: s, root: root, name: name, maxFiles: maxFiles, maxDirectories: maxDirectories}
}

// ID returns the ID of the tree: trees with equal IDs have equal files. It is zero
// if the directory does not exist.
func (t *Tree) ID() ID { return t.root }

// Entry returns the file at the path. It fails with NotFound if there is no file at
// the path, or only a directory.
func (t *Tree) Entry(name string) (Entry, error) {
	found, err := t.find(name)
	if err != nil {
		return Entry{}, err
	}
	return t.store.File(name, modeOf(found.kind), found.id), nil
}

// FileMode returns the mode of a file as Git writes it, such as 100755.
func (t *Tree) FileMode(name string) (string, error) {
	found, err := t.find(name)
	return found.mode, err
}

// find returns the entry of a file.
func (t *Tree) find(name string) (treeEntry, error) {
	tree := t.root
	for rest := name; !tree.IsZero(); {
		segment, below, deeper := strings.Cut(rest, "/")
		found, err := t.store.encoded.findEntry(tree, segment)
		if err != nil {
			return treeEntry{}, fmt.Errorf("read %s of %s: %w", display(name), t.name, err)
		}
		if !deeper && found.kind != kindNone && found.kind != kindDirectory {
			return found, nil
		}
		if !deeper || found.kind != kindDirectory {
			break
		}
		tree, rest = found.id, below
	}
	return treeEntry{}, fault.New(fault.NotFound, "there is no file %s in %s", display(name), t.name)
}

// findEntry returns the entry with the name, or the zero entry.
func (o encodedObjects) findEntry(tree ID, name string) (treeEntry, error) {
	content, err := o.readTree(tree)
	if err != nil {
		return treeEntry{}, err
	}
	for e, err := range parseTree(content) {
		if err != nil || e.name == name {
			return e, err
		}
	}
	return treeEntry{}, nil
}

// Files returns all files of the tree in Git's order. It stops after the first
// error.
func (t *Tree) Files() iter.Seq2[Entry, error] {
	return t.Walk(func(string, ID) bool { return false })
}

// Walk is like Files but leaves out the directories for which skip returns true.
// skip gets the path and the tree of the directory, before that tree is read.
func (t *Tree) Walk(skip func(directory string, tree ID) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walk{tree: t, skip: skip, yield: yield}
		if !t.root.IsZero() {
			w.directory(t.root, "", 0)
		}
	}
}

// walk is one walk over a tree, with what it has visited so far.
type walk struct {
	tree               *Tree
	files, directories int
	skip               func(string, ID) bool
	yield              func(Entry, error) bool
}

// directory visits the files below a directory, whose path ends with a slash except
// for the root. It reports whether the walk goes on.
func (w *walk) directory(id ID, path string, depth int) bool {
	fail := func(err error) bool {
		w.yield(Entry{}, err)
		return false
	}
	t := w.tree
	if depth > maxDepth+1 {
		return fail(fault.New(fault.Invalid, "directories are nested deeper than %d in %s, below %s", maxDepth, t.name, display(path[:64])))
	}
	content, err := t.store.encoded.readTree(id)
	if err != nil {
		return fail(fmt.Errorf("read the directory %s of %s: %w", displayDirectory(path), t.name, err))
	}
	for e, err := range parseTree(content) {
		name := ""
		if err == nil {
			name, err = joinPath(path, e.name)
		}
		if err != nil {
			return fail(fmt.Errorf("read the directory %s of %s: %w", displayDirectory(path), t.name, err))
		}
		if e.kind != kindDirectory {
			if w.files++; w.files > t.maxFiles {
				return fail(fault.New(fault.Invalid, "%s has more than %d files", t.name, t.maxFiles))
			}
			if !w.yield(t.store.File(name, modeOf(e.kind), e.id), nil) {
				return false
			}
			continue
		}
		if w.directories++; w.directories > t.maxDirectories {
			return fail(fault.New(fault.Invalid, "%s has more than %d directories", t.name, t.maxDirectories))
		}
		if !w.skip(name, e.id) && !w.directory(e.id, name+"/", depth+1) {
			return false
		}
	}
	return true
}

func modeOf(k entryKind) Mode {
	switch k {
	case kindSymlink:
		return Symlink
	case kindSubmodule:
		return Submodule
	default:
		return Regular
	}
}

// joinPath appends a name from a tree to the path of its directory, which ends with
// a slash. It refuses names that lead out of the directory or into Git's own, and
// long paths, because every file of a directory keeps its whole path in memory.
func joinPath(directory, name string) (string, error) {
	if !validName(name) {
		return "", fault.New(fault.Invalid, "%.200q is not a valid file name", name)
	}
	if len(directory)+len(name) > maxPath {
		return "", fault.New(fault.Invalid, "a path has more than %d bytes", maxPath)
	}
	return directory + name, nil
}

func validName(name string) bool {
	return name != "" && name != "." && name != ".." && name != ".git" && !strings.Contains(name, "/")
}

// display makes a name from a repository safe to print on a terminal.
func display(name string) string { return outbound.Scrub(name) }

func displayDirectory(path string) string { return cmp.Or(display(strings.TrimSuffix(path, "/")), "/") }
