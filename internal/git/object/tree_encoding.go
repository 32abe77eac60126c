package object

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
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
				yield(treeEntry{}, malformed(len(content)-len(rest)))
				return
			}
			if !yield(e, nil) {
				return
			}
			rest = after
		}
	}
}

func malformed(at int) error { return fault.New(fault.Invalid, "the tree is malformed at byte %d", at) }

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
	if a.name == b.name && (a.kind == kindDirectory) == (b.kind == kindDirectory) {
		return 0
	}
	n := min(len(a.name), len(b.name))
	return cmp.Or(
		strings.Compare(a.name[:n], b.name[:n]),
		cmp.Compare(a.sortByte(n), b.sortByte(n)),
		cmp.Compare(len(a.name), len(b.name)),
	)
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
func (o encodedObjects) readTree(id ID) (string, error) {
	if kept, ok := o.cache.trees.Get(id); ok {
		return kept, nil
	}
	read, err := o.read(plumbing.TreeObject, id, MaxSize)
	if errors.Is(err, ErrMissing) {
		o.report(err)
	}
	if err != nil {
		return "", err
	}
	content := string(read)
	o.cache.keepTree(id, content)
	return content, nil
}

// orderedTree reads the entries of a directory's tree one after the other. It refuses a tree
// that is not in Git's order, because entries are found by it.
type orderedTree struct {
	directory string // its path, for errors
	content   string
	begin     int       // of the entry, in bytes
	entry     treeEntry // the current one; of kindNone after the last one
	rest      string    // what follows the entry
}

// orderedTree returns the tree of a directory at its first entry; the zero ID has none.
func (o encodedObjects) orderedTree(tree ID, directory string) (*orderedTree, error) {
	t := &orderedTree{directory: directory}
	if tree.IsZero() {
		return t, nil
	}
	content, err := o.readTree(tree)
	if err != nil {
		return nil, fmt.Errorf("read the directory %s: %w", displayDirectory(directory), err)
	}
	t.content, t.rest = content, content
	return t, t.next()
}

// next goes to the next entry.
func (t *orderedTree) next() error {
	before := t.entry
	t.begin = len(t.content) - len(t.rest)
	if t.rest == "" {
		t.entry = treeEntry{}
		return nil
	}
	var ok bool
	if t.entry, t.rest, ok = cutEntry(t.rest); !ok {
		return fmt.Errorf("read the directory %s: %w", displayDirectory(t.directory), malformed(t.begin))
	}
	if t.begin > 0 && compareEntries(before, t.entry) > 0 {
		return fault.New(fault.Invalid, "the directory %s is not in Git's order", displayDirectory(t.directory))
	}
	return nil
}

// ended reports whether there is no current entry.
func (t *orderedTree) ended() bool { return t.entry.kind == kindNone }

// end is where the entry ends, in bytes.
func (t *orderedTree) end() int { return len(t.content) - len(t.rest) }

// splice replaces some bytes of a tree by an entry; one of kindNone only removes them.
type splice struct {
	begin, end int
	entry      treeEntry
}

// spliced returns the tree with the splices, which are in Git's order.
func spliced(content string, splices []splice) []byte {
	size := len(content)
	for _, one := range splices {
		size += len(one.entry.mode) + len(one.entry.name) + len(one.entry.id) + 2
	}
	after, copied := make([]byte, 0, size), 0
	for _, one := range splices {
		after = append(after, content[copied:one.begin]...)
		copied = one.end
		if one.entry.kind == kindNone {
			continue
		}
		after = append(after, one.entry.mode...)
		after = append(after, ' ')
		after = append(after, one.entry.name...)
		after = append(after, 0)
		after = append(after, one.entry.id[:]...)
	}
	return append(after, content[copied:]...)
}

// cursor finds entries of one tree while another tree is walked. Both are in Git's
// order, so one pass over each is enough. In an unsorted tree it finds fewer
// entries, never wrong ones.
type cursor struct {
	rest    string // from the current entry on
	after   string // without it
	current treeEntry
	ok      bool
}

func newCursor(content string) *cursor { return (&cursor{}).goTo(content) }

func (c *cursor) goTo(rest string) *cursor {
	c.rest = rest
	c.current, c.after, c.ok = cutEntry(rest)
	return c
}

// find returns the entry at the same position as e, or the zero entry, and goes on behind it. A file
// and a directory of the same name have different positions.
func (c *cursor) find(e treeEntry) treeEntry {
	for c.ok {
		found := c.current
		order := compareEntries(found, e)
		if order > 0 {
			break
		}
		c.goTo(c.after)
		if order == 0 {
			return found
		}
	}
	return treeEntry{}
}

// skipSame returns the tree without the entries at its beginning that are those of the cursor, which
// goes on behind them.
func (c *cursor) skipSame(content string) string {
	same, end := sharedPrefix(content, c.rest), 0
	for {
		name := strings.IndexByte(content[end:same], 0)
		next := end + name + 1 + len(treeEntry{}.id)
		if name < 0 || next > same {
			break
		}
		end = next
	}
	if end > 0 {
		c.goTo(c.rest[end:])
	}
	return content[end:]
}

// sharedPrefix returns how many bytes two texts have in common at their beginning.
func sharedPrefix(a, b string) int {
	const block = 256 // is compared at once
	n := 0
	for n+block <= min(len(a), len(b)) && a[n:n+block] == b[n:n+block] {
		n += block
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
