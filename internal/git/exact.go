package git

import (
	"errors"
	"fmt"
	"slices"
)

// between returns the objects that a server lacks which has the commits of have:
// the commits of new's history down to those, exclusive, and what in their trees
// is not in the same place of a parent's tree. Subtrees that are equal there are
// not walked. Commits at the shallow boundary came from the server, so it has
// them. Ids in have that are zero or not here are of no use, and ignored.
func (o *objects) between(tip ID, have ...ID) ([]parcel, error) {
	commits, err := o.unshared(tip, have)
	if err != nil {
		return nil, err
	}
	c := collection{objects: o, seen: map[ID]bool{}}
	for _, commit := range slices.Backward(commits) { // the oldest first
		c.add(commit.ID, ID{})
		bases := make([]ID, len(commit.Parents))
		for i, parent := range commit.Parents {
			if bases[i], err = o.treeOf(parent); err != nil {
				return nil, err
			}
		}
		if err := c.collect(commit.Tree, bases, 0); err != nil {
			return nil, fmt.Errorf("collect the objects of %s: %w", commit.ID, err)
		}
	}
	return c.found, nil
}

// unshared returns the commits that are in tip's history and in none of have's,
// children before parents.
func (o *objects) unshared(tip ID, have []ID) ([]Commit, error) {
	boundary, err := o.boundary()
	if err != nil {
		return nil, err
	}
	f := frontier{objects: o, boundary: boundary, queued: map[ID]bool{}, known: map[ID]bool{}}
	for _, id := range have {
		if err := f.push(id, true); err != nil && !errors.Is(err, errMissing) {
			return nil, err
		}
	}
	if err := f.push(tip, false); err != nil {
		return nil, err
	}
	var walked []Commit
	for f.open() {
		commit := f.pop()
		known := f.known[commit.ID]
		if !known {
			walked = append(walked, commit)
		}
		if commit.Shallow {
			continue
		}
		for _, parent := range commit.Parents {
			if err := f.push(parent, known); err != nil && !(known && errors.Is(err, errMissing)) {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(walked, func(c Commit) bool { return f.known[c.ID] }), nil
}

// frontier is how far a walk through history has come: from a tip and from what a
// server has, both at once, the newest commit first.
type frontier struct {
	*objects
	boundary map[ID]bool
	queue    []Commit
	queued   map[ID]bool // ever
	known    map[ID]bool // the server has them
}

// push queues a commit once, and once more when it turns out to be known.
func (f *frontier) push(id ID, known bool) error {
	known = known || f.boundary[id]
	if id.IsZero() || f.queued[id] && (!known || f.known[id]) {
		return nil
	}
	commit, err := f.commit(id, f.boundary)
	if err != nil {
		return err
	}
	f.queued[id] = true
	if known {
		f.known[id] = true
	}
	f.queue = append(f.queue, commit)
	return nil
}

// open reports whether a commit in the queue may be one that the server lacks.
func (f *frontier) open() bool {
	return slices.ContainsFunc(f.queue, func(c Commit) bool { return !f.known[c.ID] })
}

// pop takes the newest commit. The queue is as long as history has branches.
func (f *frontier) pop() Commit {
	newest := 0
	for i, c := range f.queue {
		if c.Committer.When.After(f.queue[newest].Committer.When) {
			newest = i
		}
	}
	commit := f.queue[newest]
	f.queue = slices.Delete(f.queue, newest, newest+1)
	return commit
}

// collection gathers the ids of objects, each once.
type collection struct {
	*objects
	seen  map[ID]bool
	found []parcel
}

// parcel is an object that goes into a pack.
type parcel struct {
	id   ID
	like ID // a tree of the same pack that stood in its place before; zero: none
}

func (c *collection) add(id, like ID) {
	if !c.seen[like] {
		like = ID{}
	}
	c.seen[id] = true
	c.found = append(c.found, parcel{id: id, like: like})
}

// collect adds a tree, and what is in it and not in the same place of a base tree.
func (c *collection) collect(tree ID, bases []ID, depth int) error {
	if c.seen[tree] || slices.Contains(bases, tree) {
		return nil
	}
	if depth > maxDepth+1 {
		return errTooDeep
	}
	content, err := c.tree(tree)
	if err != nil {
		return err
	}
	before, err := c.before(bases)
	if err != nil {
		return err
	}
	c.add(tree, firstOf(bases))
	for l, err := range lines(content) {
		if err != nil {
			return err
		}
		folders, same := before.at(l)
		switch {
		case same, l.kind == kindSubmodule:
		case l.kind == kindFolder:
			err = c.collect(l.id, folders, depth+1)
		case !c.seen[l.id]:
			c.add(l.id, ID{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func firstOf(ids []ID) ID {
	if len(ids) == 0 {
		return ID{}
	}
	return ids[0]
}

// level is one folder in all base trees.
type level []*cursor

func (c *collection) before(bases []ID) (level, error) {
	var all level
	for _, base := range bases {
		if base.IsZero() {
			continue
		}
		content, err := c.tree(base)
		if err != nil {
			return nil, err
		}
		all = append(all, newCursor(content))
	}
	return all, nil
}

// at returns the folders that stand where the line does, and whether a base has
// the very same there.
func (v level) at(l line) (folders []ID, same bool) {
	for _, cursor := range v {
		was := cursor.find(l)
		if was.kind != kindNone && was.id == l.id {
			return nil, true
		}
		if was.kind == kindFolder {
			folders = append(folders, was.id)
		}
	}
	return folders, false
}
