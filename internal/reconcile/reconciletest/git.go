package reconciletest

import (
	"context"
	"crypto/sha1" //nolint:gosec // commit ids, as in Git
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// Git is a repository in memory. Every commit contains all its files.
type Git struct {
	mutex    sync.Mutex
	commits  map[string]stored
	branches map[string]string
	// Effect is called before and after each push. An error before refuses the push;
	// an error after it is a lost response. It may be nil.
	Effect func(before bool, updates []repo.Update) error
	// Moved is called with the lock after each change of a branch. It may be nil.
	Moved func(branch, before, after string)
	// TooLarge are branches that cannot be fetched.
	TooLarge map[string]bool
	// CommitSize is how many bytes each written commit adds to what is not pushed.
	CommitSize int64
	unpushed   int64
	// Listings, Fetches and Pushes count.
	Listings, Fetches, Pushes int
}

type stored struct {
	repo.Commit
	files map[string]string
}

// NewGit returns a repository with the files on main.
func NewGit(files map[string]string, at time.Time) *Git {
	g := &Git{commits: map[string]stored{}, branches: map[string]string{}}
	g.Commit("main", Human, at, "Start", func(all map[string]string) { maps.Copy(all, files) })
	return g
}

// Human is the signature of a user.
var Human = repo.Signature{Name: "Ada", Email: "ada@example.com"} //nolint:gochecknoglobals // a constant

// Commit commits to a branch as a user.
func (g *Git) Commit(branch string, by repo.Signature, at time.Time, message string, change func(map[string]string)) string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	parent := g.branches[branch]
	files := maps.Clone(g.commits[parent].files)
	if files == nil {
		files = map[string]string{}
	}
	change(files)
	by.When = at
	var parents []string
	if parent != "" {
		parents = []string{parent}
	}
	g.move(branch, g.store(parents, files, by, message))
	return g.branches[branch]
}

// store adds a commit and returns its id.
func (g *Git) store(parents []string, files map[string]string, by repo.Signature, message string) string {
	text := fmt.Sprintln(parents, by.Name, by.Email, by.When.UnixNano(), message)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text += fmt.Sprintf("%q %q\n", path, files[path])
	}
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	id := hex.EncodeToString(sum[:])
	tree := sha1.Sum([]byte(fmt.Sprint(files))) //nolint:gosec // a map is printed in the order of its keys
	g.commits[id] = stored{
		Commit: repo.Commit{ID: id, Tree: hex.EncodeToString(tree[:]), Parents: parents, Author: by, Committer: by, Message: message, Trailers: trailers(message)},
		files:  files,
	}
	return id
}

// trailers parses the last paragraph of a message.
func trailers(message string) []promotion.Trailer {
	paragraphs := strings.Split(strings.TrimRight(message, "\n"), "\n\n")
	var found []promotion.Trailer
	for line := range strings.SplitSeq(paragraphs[len(paragraphs)-1], "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(key, "Promoter-") {
			found = append(found, promotion.Trailer{Key: key, Value: value})
		}
	}
	return found
}

// Forget makes a commit unreadable, as in a clone that never had it.
func (g *Git) Forget(commit string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.commits, commit)
}

// Branch returns the head of a branch; empty when it does not exist.
func (g *Git) Branch(name string) string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.branches[name]
}

// Branches returns a copy of all branches.
func (g *Git) Branches() map[string]string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return maps.Clone(g.branches)
}

// Set moves a branch as a forced push does; empty deletes it.
func (g *Git) Set(branch, commit string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.move(branch, commit)
}

// move moves a branch; empty deletes it. The caller holds the lock.
func (g *Git) move(branch, commit string) {
	before := g.branches[branch]
	if commit == "" {
		delete(g.branches, branch)
	} else {
		g.branches[branch] = commit
	}
	if g.Moved != nil && before != commit {
		g.Moved(branch, before, commit)
	}
}

// FilesOf returns a copy of the files of a commit.
func (g *Git) FilesOf(commit string) map[string]string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return maps.Clone(g.commits[commit].files)
}

// Merge merges a head as a forge does: with a merge commit, a squash, or a rebase. It
// fails when both sides changed a file.
func (g *Git) Merge(base, head, method, message string, by repo.Signature, at time.Time) (string, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	tip, top := g.commits[g.branches[base]], g.commits[head]
	files, err := g.merged(tip, top)
	if err != nil {
		return "", err
	}
	by.When = at
	parents := []string{tip.ID}
	switch method {
	case "merge":
		parents = append(parents, head)
	case "rebase":
		message = top.Message
	}
	g.move(base, g.store(parents, files, by, message))
	return g.branches[base], nil
}

func (g *Git) merged(tip, top stored) (map[string]string, error) {
	from := g.commits[g.common(tip.ID, top.ID)]
	files := maps.Clone(tip.files)
	for path := range union(from.files, top.files) {
		if from.files[path] == top.files[path] {
			continue
		}
		if tip.files[path] != from.files[path] && tip.files[path] != top.files[path] {
			return nil, fault.New(fault.Temporary, "%s conflicts: %w", path, scm.ErrBehind)
		}
		if content, kept := top.files[path]; kept {
			files[path] = content
		} else {
			delete(files, path)
		}
	}
	return files, nil
}

// common returns the nearest ancestor of both.
func (g *Git) common(a, b string) string {
	of := map[string]bool{}
	for queue := []string{a}; len(queue) > 0; queue = queue[1:] {
		if !of[queue[0]] {
			of[queue[0]] = true
			queue = append(queue, g.commits[queue[0]].Parents...)
		}
	}
	for queue := []string{b}; len(queue) > 0; queue = queue[1:] {
		if of[queue[0]] {
			return queue[0]
		}
		queue = append(queue, g.commits[queue[0]].Parents...)
	}
	return ""
}

func union(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for path := range a {
		all[path] = true
	}
	for path := range b {
		all[path] = true
	}
	return all
}

// Refs implements repo.Remote.
func (g *Git) Refs(context.Context) (repo.Refs, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.Listings++
	return repo.Refs{Default: "main", Branches: maps.Clone(g.branches)}, nil
}

// Fetch implements repo.Remote.
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

// Deepen implements repo.Remote.
func (g *Git) Deepen(context.Context, string, time.Time) error { return nil }

// Sign implements repo.Remote: commits have no signatures.
func (g *Git) Sign(_ context.Context, commit string) (string, error) { return commit, nil }

// Push implements repo.Remote: all branches or none.
func (g *Git) Push(_ context.Context, updates ...repo.Update) error {
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

func (g *Git) swap(updates []repo.Update) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, u := range updates {
		if g.branches[u.Branch] != u.Old {
			return fault.New(fault.Conflict, "%s is no longer at %.7s", u.Branch, u.Old)
		}
	}
	g.Pushes++
	g.unpushed = 0
	for _, u := range updates {
		g.move(u.Branch, u.New)
	}
	return nil
}

// objects implements repo.Objects, whose method Commit reads.
type objects struct{ *Git }

// Objects returns the objects of the repository.
func (g *Git) Objects() repo.Objects { return objects{g} }

// Commit implements repo.Objects.
func (o objects) Commit(id string) (repo.Commit, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	commit, found := o.commits[id]
	if !found {
		return repo.Commit{}, fault.New(fault.NotFound, "the commit %q does not exist", id)
	}
	return commit.Commit, nil
}

// History implements repo.Objects.
func (o objects) History(from string) iter.Seq2[repo.Commit, error] {
	return func(yield func(repo.Commit, error) bool) {
		for id := from; id != ""; {
			commit, err := o.Commit(id)
			if !yield(commit, err) || err != nil || len(commit.Parents) == 0 {
				return
			}
			id = commit.Parents[0]
		}
	}
}

// Read implements repo.Objects.
func (o objects) Read(commit, path string, _ int64) ([]byte, error) {
	content, found := o.FilesOf(commit)[path]
	if !found {
		return nil, fault.New(fault.NotFound, "there is no %s", path)
	}
	return []byte(content), nil
}

// All implements repo.Objects.
func (o objects) All(commit string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for path, content := range o.FilesOf(commit) {
			if !yield(path, []byte(content)) {
				return
			}
		}
	}
}

// Changed implements repo.Objects.
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

// Write implements repo.Objects.
func (o objects) Write(draft repo.Draft) (string, error) {
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
	o.unpushed += o.CommitSize
	return o.store(parents, files, draft.By, message), nil
}

// Unpushed implements repo.Objects.
func (o objects) Unpushed() int64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.unpushed
}

// Trailers implements repo.Objects.
func (objects) Trailers(message string) []promotion.Trailer { return trailers(message) }
