package object

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// treeEntry is one entry of a tree object. go-git's decoder is not used because it
// normalizes unusual modes, which a rewritten tree must keep.
type treeEntry struct {
	mode string // octal digits, as encoded
	name string
	id   ID
	kind entryKind
}

type entryKind int

const (
	kindNone entryKind = iota
	kindFile
	kindDirectory
	kindSymlink
	kindSubmodule
)

// The modes of entries that are written.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeDirectory  = "40000"
)

// parseTree yields the entries of an encoded tree. It stops after the first error,
// which is of kind Invalid.
func parseTree(content string) iter.Seq2[treeEntry, error] {
	return func(yield func(treeEntry, error) bool) {
		for rest := content; rest != ""; {
			e, after, ok := cutEntry(rest)
			if !ok {
				yield(treeEntry{}, fault.New(fault.Invalid, "the tree is malformed at byte %d", len(content)-len(rest)))
				return
			}
			if !yield(e, nil) {
				return
			}
			rest = after
		}
	}
}

// cutEntry splits off the first entry: mode, space, name, zero byte, ID.
func cutEntry(content string) (e treeEntry, rest string, ok bool) {
	mode, rest, _ := strings.Cut(content, " ")
	name, rest, _ := strings.Cut(rest, "\x00")
	if e.kind = kindOf(mode); e.kind == kindNone || len(rest) < len(e.id) {
		return treeEntry{}, "", false
	}
	e.mode, e.name = mode, name
	copy(e.id[:], rest)
	return e, rest[len(e.id):], true
}

// kindOf returns the kind of a mode, and kindNone for a mode that Git does not have.
func kindOf(mode string) entryKind {
	switch mode {
	case modeFile, modeExecutable:
		return kindFile
	case modeDirectory:
		return kindDirectory
	}
	bits, err := strconv.ParseUint(mode, 8, 18)
	if err != nil {
		return kindNone
	}
	switch bits & 0o170000 {
	case 0o100000:
		return kindFile
	case 0o040000:
		return kindDirectory
	case 0o120000:
		return kindSymlink
	case 0o160000:
		return kindSubmodule
	}
	return kindNone
}

// compareEntries is the order of entries in a tree: by name, where a directory
// sorts as if its name ended with a slash.
func compareEntries(a, b treeEntry) int {
	n := min(len(a.name), len(b.name))
	return cmp.Or(strings.Compare(a.name[:n], b.name[:n]), cmp.Compare(a.sortByte(n), b.sortByte(n)), cmp.Compare(len(a.name), len(b.name)))
}

func (e treeEntry) sortByte(i int) byte {
	switch {
	case i < len(e.name):
		return e.name[i]
	case e.kind == kindDirectory:
		return '/'
	}
	return 0
}

// readTree returns the encoded tree.
func (s *Store) readTree(id ID) (string, error) {
	return s.read(plumbing.TreeObject, id, MaxSize)
}

// sortedEntries returns the entries of a directory's tree; the zero ID has none. It
// refuses a tree that is not in Git's order, because entries are found by it.
func (s *Store) sortedEntries(tree ID, directory string) ([]treeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	content, err := s.readTree(tree)
	if err != nil {
		return nil, fmt.Errorf("read the directory %s: %w", displayDirectory(directory), err)
	}
	const typicalSize = 40 // of an entry, in bytes
	found := make([]treeEntry, 0, len(content)/typicalSize)
	for e, err := range parseTree(content) {
		if err != nil {
			return nil, fmt.Errorf("read the directory %s: %w", displayDirectory(directory), err)
		}
		found = append(found, e)
	}
	if !slices.IsSortedFunc(found, compareEntries) {
		return nil, fault.New(fault.Invalid, "the directory %s is not in Git's order", displayDirectory(directory))
	}
	return found, nil
}

// writeTree sorts and stores the entries except those of kindNone. A tree without
// entries has the zero ID and is not stored.
func (s *Store) writeTree(entries []treeEntry) (ID, error) {
	entries = slices.DeleteFunc(entries, func(e treeEntry) bool { return e.kind == kindNone })
	if len(entries) == 0 {
		return ID{}, nil
	}
	slices.SortFunc(entries, compareEntries)
	var content []byte
	for _, e := range entries {
		content = append(content, e.mode...)
		content = append(content, ' ')
		content = append(content, e.name...)
		content = append(content, 0)
		content = append(content, e.id[:]...)
	}
	return s.write(plumbing.TreeObject, content)
}

// cursor finds entries of one tree while another tree is walked. Both are in Git's
// order, so one pass over each is enough. In an unsorted tree it finds fewer
// entries, never wrong ones.
type cursor struct {
	rest    string
	current treeEntry
	ok      bool
}

func newCursor(content string) *cursor {
	c := &cursor{rest: content}
	c.next()
	return c
}

func (c *cursor) next() { c.current, c.rest, c.ok = cutEntry(c.rest) }

// find returns the entry at the same position as e, or the zero entry. A file and a
// directory of the same name have different positions.
func (c *cursor) find(e treeEntry) treeEntry {
	for c.ok && compareEntries(c.current, e) < 0 {
		c.next()
	}
	if c.ok && compareEntries(c.current, e) == 0 {
		return c.current
	}
	return treeEntry{}
}
