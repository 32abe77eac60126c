package modeltest

import (
	"testing"

	"promoter/internal/engine"
	"promoter/internal/engine/enginetest"
	"promoter/internal/scm/scmtest"
)

// World is one repository on a forge, and everything around it.
type World struct {
	// Bench is the forge, with people and with what may go wrong. A nil hook is not
	// drawn.
	scmtest.Bench
	Store    Store
	Clock    *enginetest.Clock
	Registry *enginetest.Registry
	// Reconciler begins a process of promoter: one that has the mirror of those before, or
	// one without. Several may run, one inside the other. The caller ends it. A forge
	// that cannot be asked is an error.
	Reconciler func(t *testing.T, fresh bool) (lane *engine.Reconciler, end func(), err error)
	// Clean says whether a head can be merged into a branch.
	Clean func(base, head string) bool
	// Secret is the credential of promoter, which nobody may ever see.
	Secret string
	// Bare says whether the messages of squashed commits lose their trailers.
	Bare func(bare bool)
}

// Store is the repository as its server holds it.
type Store interface {
	Branches() map[string]string
	// Commit returns a commit that is there; none has the zero value.
	Commit(id string) engine.Commit
	// Files returns the files of a commit; of none: none.
	Files(commit string) map[string]string
}

// line returns the commits of a branch itself, which are the first parents, newest
// first and without the one where it ends.
func line(s Store, from, until string) []engine.Commit {
	var all []engine.Commit
	for id := from; id != "" && id != until; {
		commit := s.Commit(id)
		all = append(all, commit)
		if id = ""; len(commit.Parents) > 0 {
			id = commit.Parents[0]
		}
	}
	return all
}
