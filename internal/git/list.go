package git

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// Refs are the branches of a remote.
type Refs struct {
	// Branches maps the names of branches to their commits.
	Branches map[string]object.ID
	// Default is the name of the default branch; empty if the remote does not name
	// it, as an empty repository does.
	Default string
}

// refsOf returns the branches that a session received, except those with names that
// Git does not allow.
func refsOf(session *wire.Session) Refs {
	const prefix = "refs/heads/"
	refs := Refs{Branches: map[string]object.ID{}}
	for name, hash := range session.References() {
		if branch, ok := strings.CutPrefix(name, prefix); ok && checkBranch(branch) == nil {
			refs.Branches[branch] = object.ID(hash)
		}
	}
	if branch, ok := strings.CutPrefix(session.DefaultBranch(), prefix); ok && checkBranch(branch) == nil {
		refs.Default = branch
	}
	return refs
}

// listing is what List received last. It answers later calls, and keeps up with our own
// pushes.
type listing struct {
	refs    Refs
	session *wire.Session // closed; to be resumed, over HTTP
}

// List returns the branches of the remote. It makes one request and fetches nothing.
//
// Until the next call, Fetch and Deepen bring the branches as they are listed here, with
// what Push pushed meanwhile. So they need no listing of their own, which over HTTP saves
// the request.
func (m *Mirror) List(ctx context.Context) (Refs, error) {
	session, err := m.endpoint.Connect(ctx, wire.UploadPack)
	if err != nil {
		return Refs{}, fmt.Errorf("list the branches of %s: %w", m.endpoint, err)
	}
	_ = session.Close() // the list is complete
	m.listing = &listing{refs: refsOf(session), session: session}
	return Refs{Branches: maps.Clone(m.listing.refs.Branches), Default: m.listing.refs.Default}, nil
}

// current returns the branches as they were listed, if the mirror has all of them.
func (l *listing) current(stored *mirrorState, branches []string) (map[string]object.ID, bool) {
	if l == nil {
		return nil, false
	}
	heads := make(map[string]object.ID, len(branches))
	for _, branch := range branches {
		id, exists := l.refs.Branches[branch]
		if !exists {
			continue
		}
		if have, ok := stored.Branches[branch]; !ok || have != id {
			return nil, false
		}
		heads[branch] = id
	}
	return heads, true
}

// move records where our own push moved branches.
func (l *listing) move(updates []Update) {
	if l == nil {
		return
	}
	for _, u := range updates {
		if u.New.IsZero() {
			delete(l.refs.Branches, u.Branch)
		} else {
			l.refs.Branches[u.Branch] = u.New
		}
	}
}
