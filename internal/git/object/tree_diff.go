package object

import (
	"cmp"
	"fmt"

	"promoter/internal/fault"
)

// Changed returns the paths of the files whose content or mode differs between two
// commits, in Git's order. It does not read directories that are equal. The zero ID
// stands for a commit without files.
func (s *Store) Changed(a, b ID) ([]string, error) {
	before, err := s.treeOf(a)
	if err != nil {
		return nil, err
	}
	after, err := s.treeOf(b)
	if err != nil {
		return nil, err
	}
	d := treeDiff{objects: s.encoded}
	if err := d.compare(before, after, "", 0); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a, b, err)
	}
	return d.paths, nil
}

// treeOf returns the tree of a commit, and zero for the zero ID.
func (s *Store) treeOf(commit ID) (ID, error) {
	if commit.IsZero() {
		return ID{}, nil
	}
	found, err := s.Commit(commit)
	return found.Tree, err
}

// treeDiff collects the paths that differ between two trees.
type treeDiff struct {
	objects     encodedObjects
	directories int
	paths       []string
}

// compare adds what differs in a directory, whose path ends with a slash except for
// the root. A zero ID means that the directory does not exist.
func (d *treeDiff) compare(before, after ID, directory string, depth int) error {
	if before == after {
		return nil
	}
	if depth > maxDepth+1 {
		return errTooDeep
	}
	if d.directories++; d.directories > maxDirectories {
		return fault.New(fault.Invalid, "more than %d directories differ", maxDirectories)
	}
	olds, err := d.objects.orderedTree(before, directory)
	if err != nil {
		return err
	}
	news, err := d.objects.orderedTree(after, directory)
	if err != nil {
		return err
	}
	for !olds.ended() || !news.ended() {
		var was, is treeEntry // zero: not in that tree
		order := compareEntries(olds.entry, news.entry)
		switch {
		case olds.ended():
			order = 1
		case news.ended():
			order = -1
		}
		if order <= 0 {
			was = olds.entry
			if err := olds.next(); err != nil {
				return err
			}
		}
		if order >= 0 {
			is = news.entry
			if err := news.next(); err != nil {
				return err
			}
		}
		if was.id == is.id && was.mode == is.mode {
			continue
		}
		path, err := joinPath(directory, cmp.Or(was.name, is.name))
		if err != nil {
			return err
		}
		if was.kind == kindDirectory || is.kind == kindDirectory {
			if err := d.compare(was.id, is.id, path+"/", depth+1); err != nil {
				return err
			}
			continue
		}
		if d.paths = append(d.paths, path); len(d.paths) > maxFiles {
			return fault.New(fault.Invalid, "more than %d files differ", maxFiles)
		}
	}
	return nil
}
