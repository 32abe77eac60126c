package app

import (
	"context"
	"iter"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/git"
	"promoter/internal/state"
)

// gitObjects reads and writes the commits of a mirror. It is engine.Objects.
type gitObjects struct{ *gitRemote }

// Commit implements engine.Objects.
func (o gitObjects) Commit(id string) (engine.Commit, error) {
	parsed, err := git.ParseID(id)
	if err != nil {
		return engine.Commit{}, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	commit, err := o.mirror.Objects.Commit(parsed)
	return commitOf(commit), err
}

func commitOf(c git.Commit) engine.Commit {
	commit := engine.Commit{
		ID: c.ID.String(), Committer: engine.Signature(c.Committer), Message: c.Message, Shallow: c.Shallow,
	}
	for _, parent := range c.Parents {
		commit.Parents = append(commit.Parents, parent.String())
	}
	commit.Trailers = trailersOf(c.Trailers)
	return commit
}

// Trailers implements engine.Objects.
func (gitObjects) Trailers(message string) []promotion.Trailer {
	return trailersOf(git.ParseTrailers(message))
}

func trailersOf(found git.Trailers) []promotion.Trailer {
	var trailers []promotion.Trailer
	for _, trailer := range found {
		trailers = append(trailers, promotion.Trailer(trailer))
	}
	return trailers
}

// History implements engine.Objects. It asks for one commit after the other, so
// that whoever reads it may use the mirror meanwhile.
func (o gitObjects) History(from string) iter.Seq2[engine.Commit, error] {
	return func(yield func(engine.Commit, error) bool) {
		for {
			commit, err := o.Commit(from)
			if !yield(commit, err) || err != nil || commit.Shallow || len(commit.Parents) == 0 {
				return
			}
			from = commit.Parents[0]
		}
	}
}

// in looks into the tree of a commit while nobody else uses the mirror.
func (o gitObjects) in(commit string, look func(*git.Tree) error) error {
	id, err := git.ParseID(commit)
	if err != nil {
		return err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	tree, err := o.mirror.Objects.Tree(id)
	if err != nil {
		return err
	}
	return look(tree)
}

// Read implements engine.Objects.
func (o gitObjects) Read(commit, path string, limit int64) (content []byte, err error) {
	err = o.in(commit, func(tree *git.Tree) error {
		entry, err := tree.Entry(path)
		if err != nil {
			return err
		}
		content, err = entry.Read(limit)
		return err
	})
	return content, err
}

// Changed implements engine.Objects.
func (o gitObjects) Changed(a, b string) ([]string, error) {
	first, err := parseID(a)
	if err != nil {
		return nil, err
	}
	second, err := parseID(b)
	if err != nil {
		return nil, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.mirror.Objects.Changed(first, second)
}

// Write implements engine.Objects.
func (o gitObjects) Write(draft engine.Draft) (string, error) {
	parent, err := parseID(draft.Parent)
	if err != nil {
		return "", err
	}
	made := git.Draft{
		Parent: parent, Write: map[string][]byte{}, Message: draft.Message,
		Author: git.Signature(draft.By), Committer: git.Signature(draft.By),
	}
	for path, content := range draft.Files {
		if content == nil {
			made.Delete = append(made.Delete, path)
		} else {
			made.Write[path] = content
		}
	}
	slices.Sort(made.Delete)
	for _, trailer := range draft.Trailers {
		made.Trailers = append(made.Trailers, git.Trailer(trailer))
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	id, err := o.mirror.Objects.Write(made)
	return id.String(), err
}

// entries lists the files of a commit. The list is made whole, because the store
// is not for use while somebody else reads from it.
func (o gitObjects) entries(ctx context.Context, commit string) ([]git.Entry, error) {
	var entries []git.Entry
	err := o.in(commit, func(tree *git.Tree) error {
		for entry, err := range tree.Files() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			entries = append(entries, entry)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// root returns the tree of a commit: of the same one, the files are the same.
func (o gitObjects) root(commit string) (root git.ID, err error) {
	err = o.in(commit, func(tree *git.Tree) error {
		root = tree.ID()
		return nil
	})
	return root, err
}

// at finds single files of a commit.
func (o gitObjects) at(commit string) func(path string) (git.Entry, error) {
	return func(path string) (found git.Entry, err error) {
		err = o.in(commit, func(tree *git.Tree) (err error) {
			found, err = tree.Entry(path)
			return err
		})
		return found, err
	}
}

// entry is a file that was listed before.
func (o gitObjects) entry(path string, mode git.Mode, id git.ID) git.Entry {
	return o.mirror.Objects.File(path, mode, id)
}

// content reads a file of a listing.
func (o gitObjects) content(entry git.Entry, limit int64) ([]byte, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return entry.Read(limit)
}

// Bounds of a commit that is read as a whole: files, and bytes of each.
const (
	maxWholeFiles = 50_000
	maxWholeFile  = 1 << 20
	maxWhole      = 64 << 20
)

// unreadable is the file of the state branch that speaks for the whole
// repository. Without content it is no record, and a record that cannot be read
// holds everything it is about.
const unreadable = state.All + "/" + state.All + ".json"

// All implements engine.Objects. A commit that cannot be read must not look like
// one without files: then somebody's hold would be lost.
func (o gitObjects) All(commit string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		entries, err := o.entries(context.Background(), commit)
		if err != nil || len(entries) > maxWholeFiles {
			yield(unreadable, nil)
			return
		}
		total := 0
		for _, entry := range entries {
			if entry.Mode != git.Regular {
				continue
			}
			content, err := o.content(entry, maxWholeFile)
			if err != nil || len(content) > maxWholeFile {
				content = nil
			}
			if total += len(content); total > maxWhole {
				yield(unreadable, nil)
				return
			}
			if !yield(entry.Path, content) {
				return
			}
		}
	}
}
