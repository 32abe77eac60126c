package git

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// rewrite stores a tree with the changes, and what below it changes too, and
// returns its id: zero when nothing is left in it. The zero id is also the tree of
// a folder that is not there yet. The folder's path ends with a slash.
func (o *objects) rewrite(tree ID, changes *change, folder string) (ID, error) {
	old, err := o.sortedLines(tree, folder)
	if err != nil {
		return ID{}, err
	}
	edited := make([]line, 0, len(old)+len(changes.below))
	met := map[string]bool{}
	for _, l := range old {
		if c := changes.below[l.name]; c != nil {
			if met[l.name] {
				return ID{}, fault.New(fault.Invalid, "the folder %s has two entries %s", cmp.Or(shown(folder), "/"), shown(l.name))
			}
			met[l.name] = true
			if l, err = o.edit(l, c, folder); err != nil {
				return ID{}, err
			}
		}
		edited = append(edited, l)
	}
	for name, c := range changes.below {
		if !met[name] {
			l, err := o.edit(line{name: name}, c, folder)
			if err != nil {
				return ID{}, err
			}
			edited = append(edited, l)
		}
	}
	return o.writeTree(edited)
}

// edit applies a change to one line, which is of kindNone when there is none. So
// is the result when nothing is left.
func (o *objects) edit(l line, c *change, folder string) (line, error) {
	name := folder + l.name
	switch {
	case c.below != nil:
		return o.editFolder(l, c, name)
	case l.kind == kindFolder:
		return l, fault.New(fault.Invalid, "%s is a folder, not a file", shown(name))
	case c.drop && l.kind == kindNone:
		return l, fault.New(fault.NotFound, "there is no file %s to be deleted", shown(name))
	case c.drop:
		l.kind = kindNone
		return l, nil
	case l.kind == kindNone:
		l.mode, l.kind = modeFile, kindFile
	case l.kind != kindFile:
		return l, fault.New(fault.Invalid, "%s is no regular file", shown(name))
	}
	var err error
	if l.id, err = o.write(plumbing.BlobObject, c.content); err != nil {
		return l, fmt.Errorf("write %s: %w", shown(name), err)
	}
	return l, nil
}

func (o *objects) editFolder(l line, c *change, name string) (line, error) {
	switch l.kind {
	case kindFolder:
	case kindNone:
		l.mode, l.kind = modeFolder, kindFolder
	default:
		return l, fault.New(fault.Invalid, "%s is no folder", shown(name))
	}
	var err error
	if l.id, err = o.rewrite(l.id, c, name+"/"); l.id.IsZero() {
		l.kind = kindNone
	}
	return l, err
}

// sortedLines returns the lines of a folder's tree, none for the zero id. They must
// be in Git's order: it is what lines are found by.
func (o *objects) sortedLines(tree ID, folder string) ([]line, error) {
	found, err := o.allLines(tree)
	if err != nil {
		return nil, fmt.Errorf("read the folder %s: %w", cmp.Or(shown(folder), "/"), err)
	}
	if !slices.IsSortedFunc(found, compareLines) {
		return nil, fault.New(fault.Invalid, "the folder %s is not in Git's order", cmp.Or(shown(folder), "/"))
	}
	return found, nil
}

// compareLines is the order of the lines in a tree: by name, a folder's as if it
// ended with a slash.
func compareLines(a, b line) int {
	n := min(len(a.name), len(b.name))
	return cmp.Or(strings.Compare(a.name[:n], b.name[:n]), cmp.Compare(a.byteAt(n), b.byteAt(n)), cmp.Compare(len(a.name), len(b.name)))
}

func (l line) byteAt(i int) byte {
	switch {
	case i < len(l.name):
		return l.name[i]
	case l.kind == kindFolder:
		return '/'
	}
	return 0
}

// writeTree stores a tree of the lines but those of kindNone; of none it is the
// zero id.
func (o *objects) writeTree(lines []line) (ID, error) {
	lines = slices.DeleteFunc(lines, func(l line) bool { return l.kind == kindNone })
	if len(lines) == 0 {
		return ID{}, nil
	}
	slices.SortFunc(lines, compareLines)
	var content []byte
	for _, l := range lines {
		content = append(content, l.mode...)
		content = append(content, ' ')
		content = append(content, l.name...)
		content = append(content, 0)
		content = append(content, l.id[:]...)
	}
	return o.write(plumbing.TreeObject, content)
}
