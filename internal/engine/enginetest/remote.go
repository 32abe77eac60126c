package enginetest

import (
	"context"
	"iter"
	"maps"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/fault"
)

// Refs implements engine.Remote.
func (g *Git) Refs(context.Context) (engine.Refs, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.Listings++
	return engine.Refs{Default: "main", Branches: maps.Clone(g.branches)}, nil
}

// Fetch implements engine.Remote.
func (g *Git) Fetch(_ context.Context, branches ...string) (map[string]string, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.Fetches++
	heads := map[string]string{}
	for _, branch := range branches {
		if g.TooLarge[branch] {
			return nil, fault.New(fault.Invalid, "an object of %s is over the limit", branch)
		}
		if commit := g.branches[branch]; commit != "" {
			heads[branch] = commit
		}
	}
	return heads, nil
}

// Deepen implements engine.Remote.
func (g *Git) Deepen(context.Context, string, time.Time) error { return nil }

// Push implements engine.Remote: all branches or none.
func (g *Git) Push(_ context.Context, updates ...engine.Update) error {
	if g.Effect != nil {
		if err := g.Effect(true, updates); err != nil {
			return err
		}
	}
	if err := g.swap(updates); err != nil {
		return err
	}
	if g.Effect != nil {
		return g.Effect(false, updates)
	}
	return nil
}

func (g *Git) swap(updates []engine.Update) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, u := range updates {
		if g.branches[u.Branch] != u.Old {
			return fault.New(fault.Conflict, "%s is not at %.7s any more", u.Branch, u.Old)
		}
	}
	g.Pushes++
	for _, u := range updates {
		if u.New == "" {
			delete(g.branches, u.Branch)
		} else {
			g.branches[u.Branch] = u.New
		}
	}
	return nil
}

// objects is the other half of Git, whose method Commit reads.
type objects struct{ *Git }

// Objects returns what engine.Objects wants of the repository.
func (g *Git) Objects() engine.Objects { return objects{g} }

// Commit implements engine.Objects.
func (o objects) Commit(id string) (engine.Commit, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	commit, found := o.commits[id]
	if !found {
		return engine.Commit{}, fault.New(fault.NotFound, "the commit %q is not here", id)
	}
	return commit.Commit, nil
}

// History implements engine.Objects.
func (o objects) History(from string) iter.Seq2[engine.Commit, error] {
	return func(yield func(engine.Commit, error) bool) {
		for id := from; id != ""; {
			commit, err := o.Commit(id)
			if !yield(commit, err) || err != nil || len(commit.Parents) == 0 {
				return
			}
			id = commit.Parents[0]
		}
	}
}

// Read implements engine.Objects.
func (o objects) Read(commit, path string, _ int64) ([]byte, error) {
	content, found := o.FilesOf(commit)[path]
	if !found {
		return nil, fault.New(fault.NotFound, "there is no %s", path)
	}
	return []byte(content), nil
}

// All implements engine.Objects.
func (o objects) All(commit string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for path, content := range o.FilesOf(commit) {
			if !yield(path, []byte(content)) {
				return
			}
		}
	}
}

// Changed implements engine.Objects.
func (o objects) Changed(a, b string) ([]string, error) {
	before, after := o.FilesOf(a), o.FilesOf(b)
	var paths []string
	for path := range union(before, after) {
		was, had := before[path]
		is, has := after[path]
		if had != has || was != is {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Write implements engine.Objects.
func (o objects) Write(draft engine.Draft) (string, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	files := maps.Clone(o.commits[draft.Parent].files)
	if files == nil {
		files = map[string]string{}
	}
	for path, content := range draft.Files {
		if content == nil {
			delete(files, path)
		} else {
			files[path] = string(content)
		}
	}
	var parents []string
	if draft.Parent != "" {
		parents = []string{draft.Parent}
	}
	message := draft.Message
	if len(draft.Trailers) > 0 {
		message += "\n"
	}
	for _, t := range draft.Trailers {
		message += t.Key + ": " + t.Value + "\n"
	}
	return o.store(parents, files, draft.By, message), nil
}

// Trailers implements engine.Objects.
func (objects) Trailers(message string) []promotion.Trailer { return trailers(message) }
