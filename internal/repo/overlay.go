package repo

import (
	"context"
	"maps"
	"time"
)

// Overlay is a Remote whose pushes move branches only for its reader: nothing is sent.
type Overlay struct {
	Remote Remote
	moved  map[string]string // the heads of the branches that were pushed; empty: deleted
}

// Refs implements Remote.
func (o *Overlay) Refs(ctx context.Context) (Refs, error) {
	refs, err := o.Remote.Refs(ctx)
	branches := map[string]string{}
	maps.Copy(branches, refs.Branches)
	maps.Copy(branches, o.moved)
	maps.DeleteFunc(branches, func(_, head string) bool { return head == "" })
	refs.Branches = branches
	return refs, err
}

// Fetch implements Remote.
func (o *Overlay) Fetch(ctx context.Context, branches ...string) (map[string]string, error) {
	fetched, err := o.Remote.Fetch(ctx, branches...)
	if err != nil {
		return nil, err
	}
	heads := maps.Clone(fetched)
	for _, branch := range branches {
		if head, moved := o.moved[branch]; moved {
			heads[branch] = head
		}
	}
	maps.DeleteFunc(heads, func(_, head string) bool { return head == "" })
	return heads, nil
}

// Deepen implements Remote.
func (o *Overlay) Deepen(ctx context.Context, branch string, since time.Time) error {
	return o.Remote.Deepen(ctx, branch, since)
}

// Sign implements Remote. What is never sent needs no signature.
func (*Overlay) Sign(_ context.Context, commit string) (string, error) { return commit, nil }

// Push implements Remote.
func (o *Overlay) Push(_ context.Context, updates ...Update) error {
	moved := map[string]string{}
	maps.Copy(moved, o.moved)
	for _, update := range updates {
		moved[update.Branch] = update.New
	}
	o.moved = moved
	return nil
}

// Listed is a Remote whose branches are known, so that they need not be listed.
type Listed struct {
	Remote
	Known Refs
}

// Refs implements Remote.
func (l Listed) Refs(context.Context) (Refs, error) { return l.Known, nil }
