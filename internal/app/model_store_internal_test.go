package app

import (
	"errors"
	"io"
	"maps"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	gitref "github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	gitobject "promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// bareStore reads a bare repository like its server, without the mirror and the code
// that the model tests.
type bareStore struct {
	t       *testing.T
	dir     string
	commits map[string]repo.Commit
	files   map[string]map[string]string // by commit
}

func newBareStore(t *testing.T, dir string) *bareStore {
	t.Helper()
	return &bareStore{t: t, dir: dir, commits: map[string]repo.Commit{}, files: map[string]map[string]string{}}
}

// open opens it in its current state.
func (b *bareStore) open() *gogit.Repository {
	b.t.Helper()
	r, err := gogit.PlainOpen(b.dir)
	b.must(err)
	return r
}

func (b *bareStore) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// Branches implements modeltest.Store.
func (b *bareStore) Branches() map[string]string {
	b.t.Helper()
	refs, err := b.open().References()
	b.must(err)
	branches := map[string]string{}
	b.must(refs.ForEach(func(ref *gitref.Reference) error {
		if ref.Name().IsBranch() && ref.Type() == gitref.HashReference {
			branches[ref.Name().Short()] = ref.Hash().String()
		}
		return nil
	}))
	return branches
}

// Commit implements modeltest.Store.
func (b *bareStore) Commit(id string) repo.Commit {
	b.t.Helper()
	if known, ok := b.commits[id]; ok || id == "" {
		return known
	}
	found, err := b.open().CommitObject(gitref.NewHash(id))
	if errors.Is(err, gitref.ErrObjectNotFound) {
		return repo.Commit{}
	}
	b.must(err)
	commit := repo.Commit{
		ID: id, Message: found.Message,
		Committer: repo.Signature{Name: found.Committer.Name, Email: found.Committer.Email, When: found.Committer.When},
	}
	for _, trailer := range gitobject.ParseTrailers(found.Message) {
		commit.Trailers = append(commit.Trailers, promotion.Trailer(trailer))
	}
	for _, parent := range found.ParentHashes {
		commit.Parents = append(commit.Parents, parent.String())
	}
	b.commits[id] = commit
	return commit
}

// Files implements modeltest.Store.
func (b *bareStore) Files(id string) map[string]string {
	b.t.Helper()
	if id == "" {
		return map[string]string{}
	}
	if _, known := b.files[id]; !known {
		b.files[id] = b.read(id)
	}
	return maps.Clone(b.files[id])
}

func (b *bareStore) read(id string) map[string]string {
	b.t.Helper()
	commit, err := b.open().CommitObject(gitref.NewHash(id))
	b.must(err)
	all, err := commit.Files()
	b.must(err)
	files := map[string]string{}
	b.must(all.ForEach(func(f *object.File) error {
		reader, err := f.Reader()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(reader)
		files[f.Name] = string(content)
		return errors.Join(err, reader.Close())
	}))
	return files
}
