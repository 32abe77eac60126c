package git

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"promoter/internal/fault"
)

// Commit is one commit.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID // also of a shallow commit, whose parents are not here
	Author    Signature
	Committer Signature
	Message   string // as it is, with its trailers
	Trailers  Trailers

	// Shallow says that the first-parent history was fetched only as far as this
	// commit: it has parents, and the first one is not here.
	Shallow bool
}

// Commit returns the commit. One that is not here is a NotFound fault.
func (o *objects) Commit(id ID) (Commit, error) {
	boundary, err := o.boundary()
	if err != nil {
		return Commit{}, err
	}
	commit, err := o.commit(id, boundary)
	if errors.Is(err, errMissing) {
		err = fault.Wrap(fault.NotFound, err)
	}
	return commit, err
}

// boundary returns the commits at which the shallow history ends.
func (o *objects) boundary() (map[ID]bool, error) {
	shallow, err := o.store.Shallow()
	if err != nil {
		return nil, fmt.Errorf("read the shallow boundary: %w", err)
	}
	ids := make(map[ID]bool, len(shallow))
	for _, hash := range shallow {
		ids[ID(hash)] = true
	}
	return ids, nil
}

func (o *objects) commit(id ID, boundary map[ID]bool) (Commit, error) {
	encoded, err := o.encoded(plumbing.CommitObject, id)
	if err != nil {
		return Commit{}, err
	}
	decoded := object.Commit{}
	if err := decoded.Decode(encoded); err != nil {
		return Commit{}, fault.Wrap(fault.Invalid, fmt.Errorf("read the commit %s: %w", id, err))
	}
	commit := Commit{
		ID: id, Tree: ID(decoded.TreeHash),
		Author: signatureOf(decoded.Author), Committer: signatureOf(decoded.Committer),
		Message: decoded.Message, Trailers: ParseTrailers(decoded.Message),
	}
	for _, parent := range decoded.ParentHashes {
		commit.Parents = append(commit.Parents, ID(parent))
	}
	commit.Shallow = boundary[id] && len(commit.Parents) > 0 && !o.has(commit.Parents[0])
	return commit, nil
}

// has says whether an object is here.
func (o *objects) has(id ID) bool { return o.store.HasEncodedObject(plumbing.Hash(id)) == nil }
