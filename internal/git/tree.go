package git

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// Tree is the tree of a commit, or of a folder in it.
type Tree struct {
	objects *objects
	root    ID     // zero: there is no such folder
	name    string // what errors call it: a branch, or a commit
	limit   size
}

// Tree returns the tree of a commit. A commit that is not here is a NotFound
// fault.
func (o *objects) Tree(commit ID) (*Tree, error) {
	found, err := o.Commit(commit)
	if err != nil {
		return nil, err
	}
	return &Tree{objects: o, root: found.Tree, name: commit.String(), limit: maxSize()}, nil
}

// ID returns the id of the tree: equal ids are equal files. It is zero for a
// folder that is not there.
func (t *Tree) ID() ID { return t.root }

// Files returns every file of the tree, in the order of Git. It stops after the
// first error.
func (t *Tree) Files() iter.Seq2[Entry, error] {
	return t.Walk(func(string, ID) bool { return false })
}

// Walk returns the files of the tree like Files, without those below the folders
// for which skip is true. It is asked with the folder's path and the id of its
// tree, so that what is known is not read again.
func (t *Tree) Walk(skip func(folder string, tree ID) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walk{Tree: t, left: t.limit, skip: skip, yield: yield}
		if t.root.IsZero() {
			return
		}
		content, err := t.objects.tree(t.root)
		if err != nil {
			w.fail(fmt.Errorf("read the tree of %s: %w", t.name, err))
			return
		}
		w.enter(content, "", 0)
	}
}

// Entry returns the file at the path. One that is not there is a NotFound fault;
// a folder is no file.
func (t *Tree) Entry(name string) (Entry, error) {
	tree := t.root
	for rest := name; !tree.IsZero(); {
		segment, below, deeper := strings.Cut(rest, "/")
		found, err := t.objects.find(tree, segment)
		if err != nil {
			return Entry{}, fmt.Errorf("read %s of %s: %w", shown(name), t.name, err)
		}
		if !deeper && found.kind != kindNone && found.kind != kindFolder {
			return t.entry(name, found), nil
		}
		if !deeper || found.kind != kindFolder {
			break
		}
		tree, rest = found.id, below
	}
	return Entry{}, fault.New(fault.NotFound, "there is no file %s in %s", shown(name), t.name)
}

func (t *Tree) entry(name string, l line) Entry {
	return Entry{Path: name, Mode: modeOf(l.kind), ID: l.id, from: t.objects}
}

// walk is one way through a tree.
type walk struct {
	*Tree
	left  size // what may still be seen
	skip  func(string, ID) bool
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

// enter visits the lines of a tree. The folder's path ends with a slash, but for
// the root's.
func (w *walk) enter(tree, folder string, depth int) bool {
	if depth > maxDepth+1 {
		return w.fail(fault.New(fault.Invalid, "folders lie deeper than %d in %s, below %s", maxDepth, w.name, shown(folder[:64])))
	}
	for l, err := range lines(tree) {
		if err != nil {
			return w.fail(fmt.Errorf("read the folder %s of %s: %w", shown(folder), w.name, err))
		}
		if !w.visit(l, folder, depth) {
			return false
		}
	}
	return true
}

func (w *walk) visit(l line, folder string, depth int) bool {
	if !plainName(l.name) {
		return w.fail(fault.New(fault.Invalid, "%.200q is no name that a file can have in %s", l.name, w.Tree.name))
	}
	name, err := joined(folder, l.name)
	if err != nil {
		return w.fail(fmt.Errorf("read the folder %s of %s: %w", shown(folder), w.name, err))
	}
	if l.kind != kindFolder {
		if w.left.files--; w.left.files < 0 {
			return w.fail(fault.New(fault.Invalid, "%s has more than %d files", w.name, w.limit.files))
		}
		return w.yield(w.entry(name, l), nil)
	}
	if w.left.folders--; w.left.folders < 0 {
		return w.fail(fault.New(fault.Invalid, "%s has more than %d folders", w.name, w.limit.folders))
	}
	if w.skip(name, l.id) {
		return true
	}
	child, err := w.objects.tree(l.id)
	if err != nil {
		return w.fail(fmt.Errorf("read the folder %s of %s: %w", shown(name), w.name, err))
	}
	return w.enter(child, name+"/", depth+1)
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

// joined returns the path of a name in a folder, whose path ends with a slash. It is
// bounded, because every file of a folder has it in memory.
func joined(folder, name string) (string, error) {
	if len(folder)+len(name) > maxPath {
		return "", fault.New(fault.Invalid, "a path of more than %d bytes", maxPath)
	}
	return folder + name, nil
}

// shown makes a name safe for a terminal.
func shown(name string) string { return outbound.Scrub(name) }

// tree returns the content of a tree object.
func (o *objects) tree(id ID) (string, error) {
	return o.read(plumbing.TreeObject, id, maxObject)
}

// usualLine is about how many bytes a line of a tree has.
const usualLine = 40

// allLines returns the lines of a tree, none for the zero id.
func (o *objects) allLines(tree ID) ([]line, error) {
	if tree.IsZero() {
		return nil, nil
	}
	content, err := o.tree(tree)
	if err != nil {
		return nil, err
	}
	found := make([]line, 0, len(content)/usualLine)
	for l, err := range lines(content) {
		if err != nil {
			return nil, err
		}
		found = append(found, l)
	}
	return found, nil
}

// find returns the line of a tree with the name, and the zero line if there is
// none.
func (o *objects) find(tree ID, name string) (line, error) {
	content, err := o.tree(tree)
	if err != nil {
		return line{}, err
	}
	for l, err := range lines(content) {
		if err != nil || l.name == name {
			return l, err
		}
	}
	return line{}, nil
}

// folder returns the tree of a folder, and zero if there is none. The empty path
// is the tree itself.
func (o *objects) folder(tree ID, name string) (ID, error) {
	if name == "" {
		return tree, nil
	}
	for segment := range strings.SplitSeq(name, "/") {
		found, err := o.find(tree, segment)
		if err != nil || found.kind != kindFolder {
			return ID{}, err
		}
		tree = found.id
	}
	_, err := o.tree(tree)
	return tree, err
}
