package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage"
)

// bridge keeps a repository on this disk and one that is known by the API alone
// the same. The forge's branches are the truth: they are brought here before
// anybody is told of them, and a push counts when they have moved there. Objects
// have the same ids on both sides, which is checked for each.
// https://docs.github.com/en/rest/git
type bridge struct {
	forge  account
	path   string // /repos/OWNER/NAME
	storer storage.Storer
	both   map[plumbing.Hash]bool // the forge has these too
}

// headsPath names the branches of the API: those that begin so.
const headsPath = "/git/matching-refs/heads/"

// bring lets every branch here be where it is at the forge.
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

// push moves branches at the forge, and here, from where the pusher saw them.
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
