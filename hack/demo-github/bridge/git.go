package bridge

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/memory"
)

// repository is the copy of a repository that exists at the emulator, as one user
// accesses it. The emulator's branches are authoritative: they are fetched before they
// are advertised, and a push succeeds once they have moved there. Each object's ID is
// verified on both sides.
//
// https://docs.github.com/en/rest/git
type repository struct {
	emulator api
	path     string // /repos/OWNER/NAME
	storer   storage.Storer
	shared   map[plumbing.Hash]bool // objects that the emulator has too
}

func newRepository(path string) repository {
	storer := memory.NewStorage()
	_ = storer.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.Main)) // in memory
	return repository{path: path, storer: storer, shared: map[plumbing.Hash]bool{}}
}

// matchingRefs is the path of branches in the API.
const matchingRefs = "/git/matching-refs/heads/"

// fetch moves every local branch to its position at the emulator.
func (r repository) fetch(ctx context.Context) error {
	there, err := r.branches(ctx)
	if err != nil {
		return err
	}
	for name, id := range there {
		if err := r.fetchCommit(ctx, id); err != nil {
			return fmt.Errorf("fetch %s: %w", name, err)
		}
		if err := r.storer.SetReference(plumbing.NewHashReference(name, id)); err != nil {
			return fmt.Errorf("fetch %s: %w", name, err)
		}
	}
	all, err := r.storer.IterReferences()
	if err != nil {
		return fmt.Errorf("list the branches: %w", err)
	}
	return all.ForEach(func(ref *plumbing.Reference) error {
		if _, exists := there[ref.Name()]; exists || !ref.Name().IsBranch() {
			return nil
		}
		return r.storer.RemoveReference(ref.Name())
	})
}

func (r repository) branches(ctx context.Context) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	var refs []struct {
		Ref    plumbing.ReferenceName
		Object sha
	}
	if err := r.emulator.call(ctx, "GET", r.path+matchingRefs+"?per_page=100", nil, &refs); err != nil {
		return nil, err
	}
	branches := map[plumbing.ReferenceName]plumbing.Hash{}
	for _, ref := range refs {
		branches[ref.Ref] = plumbing.NewHash(ref.Object.SHA)
	}
	return branches, nil
}

// push moves branches at the emulator and locally, from the position that the pusher
// has seen.
func (r repository) push(ctx context.Context, commands []*packp.Command) error {
	there, err := r.branches(ctx)
	if err != nil {
		return err
	}
	for _, command := range commands {
		if there[command.Name] != command.Old {
			return fmt.Errorf("%s moved meanwhile", command.Name.Short())
		}
	}
	for _, command := range commands {
		if err := r.move(ctx, command); err != nil {
			return err
		}
	}
	return r.fetch(ctx)
}

func (r repository) move(ctx context.Context, command *packp.Command) error {
	path := r.path + "/git/refs/" + strings.TrimPrefix(command.Name.String(), "refs/")
	if command.Action() == packp.Delete {
		return r.emulator.call(ctx, "DELETE", path, nil, nil)
	}
	if err := r.uploadCommit(ctx, command.New); err != nil {
		return err
	}
	id := command.New.String()
	if command.Action() == packp.Create {
		return r.emulator.call(ctx, "POST", r.path+"/git/refs", object{"ref": command.Name.String(), "sha": id}, nil)
	}
	return r.emulator.call(ctx, "PATCH", path, object{"sha": id, "force": true}, nil)
}
