package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// branchesPrefix is where a remote keeps its branches.
const branchesPrefix = "refs/heads/"

// List asks the remote for its branches: one request, nothing is fetched.
func (m *Mirror) List(ctx context.Context) (Refs, error) {
	s, advertised, err := m.connect(ctx, uploadPack)
	if err != nil {
		return Refs{}, fmt.Errorf("list the branches of %s: %w", m.remote, err)
	}
	_ = s.Close() // it has told all it is asked for
	return refsOf(advertised), nil
}

// refsOf takes the branches out of what a remote said.
func refsOf(advertised *packp.AdvRefs) Refs {
	refs := Refs{Branches: map[string]ID{}}
	for name, hash := range advertised.References {
		if branch, ok := strings.CutPrefix(name, branchesPrefix); ok && checkBranch(branch) == nil {
			refs.Branches[branch] = ID(hash)
		}
	}
	for _, symbolic := range advertised.Capabilities.Get(capability.SymRef) {
		if branch, ok := strings.CutPrefix(symbolic, "HEAD:"+branchesPrefix); ok && checkBranch(branch) == nil {
			refs.Default = branch
		}
	}
	return refs
}

// end closes a session after what it was for; the first error counts.
func end(s session, err error) error {
	if err != nil {
		_ = s.Close() // it failed already
		return err
	}
	return errors.Join(s.Close())
}
