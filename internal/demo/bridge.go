package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage"
)

// bridge synchronizes a local repository with one that is only reachable
// through the API. The forge's branches are authoritative: they are fetched
// before they are advertised, and a push succeeds once they have moved there.
// Objects have the same IDs on both sides, which is verified for each one.
//
// https://docs.github.com/en/rest/git
type bridge struct {
	forge  account
	path   string // /repos/OWNER/NAME
	storer storage.Storer
	both   map[plumbing.Hash]bool // objects that the forge has too
}

// headsPath is the prefix of branches in the API.
const headsPath = "/git/matching-refs/heads/"

// bring moves every local branch to its position at the forge.
func (b *bridge) bring(ctx context.Context) error {
	there, err := b.branches(ctx)
	if err != nil {
		return err
	}
	for name, id := range there {
		if err := b.getCommit(ctx, id); err != nil {
			return fmt.Errorf("bring %s: %w", name, err)
		}
		if err := b.storer.SetReference(plumbing.NewHashReference(name, id)); err != nil {
			return fmt.Errorf("bring %s: %w", name, err)
		}
	}
	all, err := b.storer.IterReferences()
	if err != nil {
		return fmt.Errorf("list the branches: %w", err)
	}
	return all.ForEach(func(ref *plumbing.Reference) error {
		if _, still := there[ref.Name()]; still || !ref.Name().IsBranch() {
			return nil
		}
		return b.storer.RemoveReference(ref.Name())
	})
}

func (b *bridge) branches(ctx context.Context) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	var refs []struct {
		Ref    plumbing.ReferenceName
		Object struct{ SHA string }
	}
	if err := b.forge.ask(ctx, "GET", b.path+headsPath+"?per_page=100", nil, &refs); err != nil {
		return nil, err
	}
	branches := map[plumbing.ReferenceName]plumbing.Hash{}
	for _, ref := range refs {
		branches[ref.Ref] = plumbing.NewHash(ref.Object.SHA)
	}
	return branches, nil
}

// push moves branches at the forge and locally, from the position that the
// pusher has seen.
func (b *bridge) push(ctx context.Context, commands []*packp.Command) error {
	there, err := b.branches(ctx)
	if err != nil {
		return err
	}
	for _, command := range commands {
		if there[command.Name] != command.Old {
			return fmt.Errorf("%s moved meanwhile", command.Name.Short())
		}
	}
	for _, command := range commands {
		if err := b.move(ctx, command); err != nil {
			return err
		}
	}
	return b.bring(ctx)
}

func (b *bridge) move(ctx context.Context, command *packp.Command) error {
	path := b.path + "/git/refs/" + strings.TrimPrefix(command.Name.String(), "refs/")
	if command.Action() == packp.Delete {
		return b.forge.ask(ctx, "DELETE", path, nil, nil)
	}
	if err := b.putCommit(ctx, command.New); err != nil {
		return err
	}
	id := command.New.String()
	if command.Action() == packp.Create {
		return b.forge.ask(ctx, "POST", b.path+"/git/refs", body{"ref": command.Name.String(), "sha": id}, nil)
	}
	return b.forge.ask(ctx, "PATCH", path, body{"sha": id, "force": true}, nil)
}
