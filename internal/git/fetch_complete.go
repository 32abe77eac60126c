package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"promoter/internal/fault"
)

// lacking looks whether commits, trees and files of the heads are here, as far as
// they differ from heads that were looked at before. It returns the blobs that
// are not here and not known as too large. A missing commit or tree is
// errIncomplete.
func (m *Mirror) lacking(ctx context.Context, heads map[string]ID, before []ID) ([]ID, error) {
	c := &completeness{m: m, ended: ctx.Err, seen: map[ID]bool{}, known: map[ID]bool{}}
	boundary, err := m.boundary()
	if err != nil {
		return nil, err
	}
	for _, id := range before {
		c.known[id] = true
	}
	for branch, head := range heads {
		base := ID{}
		if old, ok := m.state.Branches[branch]; ok {
			base = old
		} else if len(before) > 0 {
			base = before[0]
		}
		if err := c.connected(head, boundary); err != nil {
			return nil, err
		}
		if err := c.files(head, base); err != nil {
			return nil, err
		}
	}
	return c.absent, nil
}

// completeness is one look at what has arrived.
type completeness struct {
	m      *Mirror
	ended  func() error // why nobody waits any more
	known  map[ID]bool  // commits that were looked at before
	seen   map[ID]bool  // trees and blobs of this look
	absent []ID         // blobs that are not here
}

// connected walks the history from a commit to what is known and to where it
// ends by rights.
func (c *completeness) connected(head ID, boundary map[ID]bool) error {
	for open := []ID{head}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if c.known[id] {
			continue
		}
		c.known[id] = true
		if err := c.ended(); err != nil {
			return fault.Wrap(fault.Temporary, err)
		}
		commit, err := c.m.commit(id, boundary)
		if err != nil {
			return missing(err)
		}
		parents := commit.Parents
		if boundary[id] {
			parents = slices.DeleteFunc(parents, func(parent ID) bool { return !c.m.has(parent) })
		}
		open = append(open, parents...)
	}
	return nil
}

// files walks the tree of a commit where it differs from that of the base.
func (c *completeness) files(head, base ID) error {
	commit, err := c.m.commit(head, nil)
	if err != nil {
		return missing(err)
	}
	var tree ID
	if !base.IsZero() {
		if old, err := c.m.commit(base, nil); err == nil {
			tree = old.Tree
		}
	}
	return c.tree(commit.Tree, tree, 0)
}

func (c *completeness) tree(id, base ID, depth int) error {
	if id == base || c.seen[id] {
		return nil
	}
	c.seen[id] = true
	if err := c.ended(); err != nil {
		return fault.Wrap(fault.Temporary, err)
	}
	if depth > maxDepth {
		return fault.New(fault.Invalid, "folders lie deeper than %d", maxDepth)
	}
	content, err := c.m.read(plumbing.TreeObject, id, maxObject)
	if err != nil {
		return missing(err)
	}
	before, err := c.before(base)
	if err != nil {
		return err
	}
	for entry, err := range lines(content) {
		if err != nil {
			return fmt.Errorf("check the tree %s: %w", id, err)
		}
		if err := c.entry(entry, before.find(entry), depth); err != nil {
			return err
		}
	}
	return nil
}

// before finds the entries of a tree that was looked at before.
func (c *completeness) before(id ID) (*cursor, error) {
	if id.IsZero() {
		return newCursor(""), nil
	}
	content, err := c.m.read(plumbing.TreeObject, id, maxObject)
	if err != nil {
		return nil, missing(err)
	}
	return newCursor(content), nil
}

func (c *completeness) entry(entry, base line, depth int) error {
	switch {
	case base.kind != kindNone && entry.id == base.id, entry.kind == kindSubmodule:
		return nil
	case entry.kind == kindFolder:
		return c.tree(entry.id, base.id, depth+1) // a folder's place is a folder's, or nothing's
	case c.seen[entry.id]:
		return nil
	}
	c.seen[entry.id] = true
	if !c.m.has(entry.id) && !c.m.TooLarge(entry.id) {
		c.absent = append(c.absent, entry.id)
	}
	return nil
}

// missing turns the absence of an object into errIncomplete.
func missing(err error) error {
	if errors.Is(err, errMissing) {
		return fmt.Errorf("%w: %w", errIncomplete, err)
	}
	return err
}
