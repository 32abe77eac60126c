package app

import (
	"context"
	"iter"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/git/object"
	"promoter/internal/state"
)

// gitObjects reads and writes the commits of a mirror. It is engine.Objects.
type gitObjects struct{ *gitRemote }

// Commit implements engine.Objects.
func (o gitObjects) Commit(id string) (engine.Commit, error) {
	parsed, err := object.ParseID(id)
	if err != nil {
		return engine.Commit{}, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	commit, err := o.mirror.Objects.Commit(parsed)
	return commitOf(commit), err
}

func commitOf(c object.Commit) engine.Commit {
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
	return trailersOf(object.ParseTrailers(message))
}

func trailersOf(found object.Trailers) []promotion.Trailer {
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
func (o gitObjects) in(commit string, look func(*object.Tree) error) error {
	id, err := object.ParseID(commit)
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
	err = o.in(commit, func(tree *object.Tree) error {
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
	made := object.Draft{
		Parent: parent, Write: map[string][]byte{}, Message: draft.Message,
		Author: object.Signature(draft.By), Committer: object.Signature(draft.By),
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
		made.Trailers = append(made.Trailers, object.Trailer(trailer))
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	id, err := o.mirror.Objects.Write(made)
	return id.String(), err
}

// entries lists the files of a commit. The list is made whole, because the store
// is not for use while somebody else reads from it.
func (o gitObjects) entries(ctx context.Context, commit string) ([]object.Entry, error) {
	var entries []object.Entry
	err := o.in(commit, func(tree *object.Tree) error {
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
func (o gitObjects) root(commit string) (root object.ID, err error) {
	err = o.in(commit, func(tree *object.Tree) error {
		root = tree.ID()
		return nil
	})
	return root, err
}

// at finds single files of a commit.
func (o gitObjects) at(commit string) func(path string) (object.Entry, error) {
	return func(path string) (found object.Entry, err error) {
		err = o.in(commit, func(tree *object.Tree) (err error) {
			found, err = tree.Entry(path)
			return err
		})
		return found, err
	}
}

// entry is a file that was listed before.
func (o gitObjects) entry(path string, mode object.Mode, id object.ID) object.Entry {
	return o.mirror.Objects.File(path, mode, id)
}

// content reads a file of a listing.
func (o gitObjects) content(entry object.Entry, limit int64) ([]byte, error) {
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
			if entry.Mode != object.Regular {
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
