package git

import (
	"cmp"
	"fmt"

	"promoter/internal/fault"
)

// SameTree reports whether two commits hold the same files.
func (o *objects) SameTree(a, b ID) (bool, error) {
	first, err := o.treeOf(a)
	if err != nil {
		return false, err
	}
	second, err := o.treeOf(b)
	return first == second, err
}

// Changed returns the paths of the files that differ between two commits, by
// content or by mode, in Git's order. Folders that are equal are not walked. The
// zero id stands for a commit without files.
func (o *objects) Changed(a, b ID) ([]string, error) {
	before, err := o.treeOf(a)
	if err != nil {
		return nil, err
	}
	after, err := o.treeOf(b)
	if err != nil {
		return nil, err
	}
	c := comparison{objects: o, left: maxSize()}
	if err := c.compare(before, after, "", 0); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a, b, err)
	}
	return c.paths, nil
}

// treeOf returns the tree of a commit, and zero for the zero id.
func (o *objects) treeOf(commit ID) (ID, error) {
	if commit.IsZero() {
		return ID{}, nil
	}
	found, err := o.Commit(commit)
	return found.Tree, err
}

// comparison is one way through two trees.
type comparison struct {
	*objects
	left  size // what may still be seen
	paths []string
}

// compare notes what differs between two trees of one folder, whose path ends with
// a slash but for the root's. Zero: there is no such folder.
func (c *comparison) compare(before, after ID, folder string, depth int) error {
	if before == after {
		return nil
	}
	if depth > maxDepth+1 {
		return errTooDeep
	}
	if c.left.folders--; c.left.folders < 0 {
		return fault.New(fault.Invalid, "more than %d folders differ", maxSize().folders)
	}
	old, err := c.sortedLines(before, folder)
	if err != nil {
		return err
	}
	now, err := c.sortedLines(after, folder)
	if err != nil {
		return err
	}
	for len(old) > 0 || len(now) > 0 {
		var was, is line
		if was, is, old, now = cutPair(old, now); was.id == is.id && was.mode == is.mode {
			continue
		}
		if err := c.note(was, is, folder, depth); err != nil {
			return err
		}
	}
	return nil
}

// cutPair takes the first line of both trees, or the zero line for the tree that
// does not have it.
func cutPair(old, now []line) (was, is line, oldRest, nowRest []line) {
	order := cmp.Compare(len(now), len(old)) // the one that is left comes first
	if len(old) > 0 && len(now) > 0 {
		order = compareLines(old[0], now[0])
	}
	if order <= 0 {
		was, old = old[0], old[1:]
	}
	if order >= 0 {
		is, now = now[0], now[1:]
	}
	return was, is, old, now
}

func (c *comparison) note(was, is line, folder string, depth int) error {
	name := cmp.Or(was.name, is.name)
	if !plainName(name) {
		return fault.New(fault.Invalid, "%.200q is no name that a file can have", name)
	}
	path, err := joined(folder, name)
	if err != nil {
		return err
	}
	if was.kind == kindFolder || is.kind == kindFolder {
		return c.compare(was.id, is.id, path+"/", depth+1)
	}
	if c.left.files--; c.left.files < 0 {
		return fault.New(fault.Invalid, "more than %d files differ", maxSize().files)
	}
	c.paths = append(c.paths, path)
	return nil
}
