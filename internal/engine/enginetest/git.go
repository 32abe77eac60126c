package enginetest

import (
	"crypto/sha1" //nolint:gosec // names of commits, as Git makes them
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/scm"
)

// Git is a repository in memory. Every commit keeps all its files.
type Git struct {
	mutex    sync.Mutex
	commits  map[string]stored
	branches map[string]string
	// Effect is asked before a push and after it. An error before refuses the
	// push; one after loses the answer. Nil: neither.
	Effect func(before bool, updates []engine.Update) error
	// TooLarge are branches that cannot be fetched.
	TooLarge map[string]bool
	// Listings, Fetches and Pushes count.
	Listings, Fetches, Pushes int
}

type stored struct {
	engine.Commit
	files map[string]string
}

// NewGit makes a repository whose branch main holds the files.
func NewGit(files map[string]string, at time.Time) *Git {
	g := &Git{commits: map[string]stored{}, branches: map[string]string{}}
	g.Commit("main", Human, at, "Begin", func(all map[string]string) { maps.Copy(all, files) })
	return g
}

// Human is who commits by hand.
var Human = engine.Signature{Name: "Ada", Email: "ada@example.com"} //nolint:gochecknoglobals // a constant

// Commit makes a commit of a person on a branch.
func (g *Git) Commit(branch string, by engine.Signature, at time.Time, message string, change func(map[string]string)) string {
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
	g.branches[branch] = g.store(parents, files, by, message)
	return g.branches[branch]
}

// store adds a commit and returns its id.
func (g *Git) store(parents []string, files map[string]string, by engine.Signature, message string) string {
	text := fmt.Sprintln(parents, by.Name, by.Email, by.When.UnixNano(), message)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text += fmt.Sprintf("%q %q\n", path, files[path])
	}
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
	id := hex.EncodeToString(sum[:])
	g.commits[id] = stored{
		Commit: engine.Commit{ID: id, Parents: parents, Committer: by, Message: message, Trailers: trailers(message)},
		files:  files,
	}
	return id
}

// trailers reads the last paragraph of a message.
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

// Branch returns the commit of a branch; empty when there is none.
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

// Set points a branch elsewhere, as a person's forced push does; empty deletes it.
func (g *Git) Set(branch, commit string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if commit == "" {
		delete(g.branches, branch)
		return
	}
	g.branches[branch] = commit
}

// FilesOf returns a copy of the files of a commit.
func (g *Git) FilesOf(commit string) map[string]string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return maps.Clone(g.commits[commit].files)
}

// Merge makes what a forge makes of a head: a merge commit, a squash, or the
// commits anew. It fails where both sides changed one file.
func (g *Git) Merge(base, head, method, message string, by engine.Signature, at time.Time) (string, error) {
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
	g.branches[base] = g.store(parents, files, by, message)
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
