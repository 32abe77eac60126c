package workspace

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/telemetry"
)

// mirror is the mirror of a repository. It implements repo.Remote, repo.Objects,
// and scan.Repository. A git.Mirror must not be used concurrently, so all use of it is
// behind the lock.
type mirror struct {
	git   *git.Mirror
	sign  signCommit // nil: commits get no signature
	mutex sync.Mutex
}

// damage returns an error if the files of the mirror are damaged.
func (m *mirror) damage() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Damage()
}

// traceBranches is the attribute of a span that lists branches.
const traceBranches = "promoter.branches"

// Refs implements repo.Remote.
func (m *mirror) Refs(ctx context.Context) (_ repo.Refs, err error) {
	ctx, span := telemetry.Begin(ctx, "git list")
	defer func() { span.End(err) }()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found, err := m.git.List(ctx)
	if err != nil {
		return repo.Refs{}, err
	}
	return repo.Refs{Default: found.Default, Branches: commits(found.Branches)}, nil
}

// commits returns the commits of branches as text.
func commits(ids map[string]object.ID) map[string]string {
	all := make(map[string]string, len(ids))
	for branch, id := range ids {
		all[branch] = id.String()
	}
	return all
}

// Fetch implements repo.Remote.
func (m *mirror) Fetch(ctx context.Context, branches ...string) (_ map[string]string, err error) {
	ctx, span := telemetry.Begin(ctx, "git fetch", slog.Any(traceBranches, branches))
	defer func() { span.End(err) }()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found, err := m.git.Fetch(ctx, branches...)
	if err != nil {
		return nil, err
	}
	return commits(found), nil
}

// Deepen implements repo.Remote.
func (m *mirror) Deepen(ctx context.Context, branch string, since time.Time) (err error) {
	ctx, span := telemetry.Begin(ctx, "git deepen", slog.Any(traceBranches, []string{branch}))
	defer func() { span.End(err) }()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Deepen(ctx, branch, since)
}

// Push implements repo.Remote.
func (m *mirror) Push(ctx context.Context, updates ...repo.Update) (err error) {
	var branches []string
	for _, update := range updates {
		branches = append(branches, update.Branch)
	}
	ctx, span := telemetry.Begin(ctx, "git push", slog.Any(traceBranches, branches))
	defer func() { span.End(err) }()
	pushed := make([]git.Update, len(updates))
	for i, update := range updates {
		pushed[i].Branch = update.Branch
		if pushed[i].Old, err = parseID(update.Old); err != nil {
			return err
		}
		if pushed[i].New, err = parseID(update.New); err != nil {
			return err
		}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Push(ctx, pushed...)
}

// Sign implements repo.Remote.
func (m *mirror) Sign(ctx context.Context, commit string) (string, error) {
	if m.sign == nil {
		return commit, nil
	}
	return m.sign(ctx, m, commit)
}

// parseID parses a commit; the empty text is no commit.
func parseID(text string) (object.ID, error) {
	if text == "" {
		return object.ID{}, nil
	}
	return object.ParseID(text)
}

// Commit implements repo.Objects.
func (m *mirror) Commit(id string) (repo.Commit, error) {
	parsed, err := object.ParseID(id)
	if err != nil {
		return repo.Commit{}, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	c, err := m.git.Objects.Commit(parsed)
	commit := repo.Commit{
		ID: c.ID.String(), Tree: c.Tree.String(),
		Author: repo.Signature(c.Author), Committer: repo.Signature(c.Committer),
		Message: c.Message, Trailers: trailers(c.Trailers), Shallow: c.Shallow,
	}
	for _, parent := range c.Parents {
		commit.Parents = append(commit.Parents, parent.String())
	}
	return commit, err
}

// Trailers implements repo.Objects.
func (*mirror) Trailers(message string) []promotion.Trailer {
	return trailers(object.ParseTrailers(message))
}

func trailers(found object.Trailers) []promotion.Trailer {
	var all []promotion.Trailer
	for _, trailer := range found {
		all = append(all, promotion.Trailer(trailer))
	}
	return all
}

// History implements repo.Objects. It reads one commit after the other, so that the
// caller may use the mirror in between.
func (m *mirror) History(from string) iter.Seq2[repo.Commit, error] {
	return func(yield func(repo.Commit, error) bool) {
		for {
			commit, err := m.Commit(from)
			if !yield(commit, err) || err != nil || commit.Shallow || len(commit.Parents) == 0 {
				return
			}
			from = commit.Parents[0]
		}
	}
}

// Read implements repo.Objects.
func (m *mirror) Read(commit, path string, limit int64) (content []byte, err error) {
	err = m.withTree(commit, func(tree *object.Tree) error {
		entry, err := tree.Entry(path)
		if err != nil {
			return err
		}
		content, err = entry.Read(limit)
		return err
	})
	return content, err
}

// withTree calls a function with the tree of a commit, behind the lock.
func (m *mirror) withTree(commit string, do func(*object.Tree) error) error {
	id, err := object.ParseID(commit)
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	tree, err := m.git.Objects.Tree(id)
	if err != nil {
		return err
	}
	return do(tree)
}

// Limits of the files of a commit. A few kilobytes of trees that name each other can list
// more paths than fit into memory, so listing stops at the limit.
const (
	maxFiles = 500_000
	maxPaths = 64 << 20 // bytes
)

// Limits of a commit whose files are all read.
const (
	maxAllFiles = 50_000
	maxAllPaths = 8 << 20  // bytes
	maxFileSize = 1 << 20  // bytes
	maxAllSize  = 64 << 20 // bytes
)

// unreadable is the file of the state branch that applies to the whole repository.
// Without content it is invalid, and an invalid record holds all that it is about.
const unreadable = state.All + "/" + state.All + ".json"

// All implements repo.Objects. A commit that cannot be read must not seem to have no
// files: the holds of users would be lost.
func (m *mirror) All(commit string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		entries, err := m.list(context.Background(), commit, maxAllFiles, maxAllPaths)
		if err != nil {
			yield(unreadable, nil)
			return
		}
		total := 0
		for _, entry := range entries {
			if entry.Mode != object.Regular {
				continue
			}
			content, err := m.Content(entry, maxFileSize)
			if err != nil || len(content) > maxFileSize {
				content = nil
			}
			if total += len(content); total > maxAllSize {
				yield(unreadable, nil)
				return
			}
			if !yield(entry.Path, content) {
				return
			}
		}
	}
}

// Changed implements repo.Objects and scan.Repository.
func (m *mirror) Changed(a, b string) ([]string, error) {
	first, err := parseID(a)
	if err != nil {
		return nil, err
	}
	second, err := parseID(b)
	if err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Objects.Changed(first, second)
}

// Write implements repo.Objects.
func (m *mirror) Write(draft repo.Draft) (string, error) {
	parent, err := parseID(draft.Parent)
	if err != nil {
		return "", err
	}
	commit := object.Draft{
		Parent: parent, Write: map[string][]byte{}, Message: draft.Message,
		Author: object.Signature(draft.By), Committer: object.Signature(draft.By),
	}
	for path, content := range draft.Files {
		if content == nil {
			commit.Delete = append(commit.Delete, path)
		} else {
			commit.Write[path] = content
		}
	}
	slices.Sort(commit.Delete)
	for _, trailer := range draft.Trailers {
		commit.Trailers = append(commit.Trailers, object.Trailer(trailer))
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	id, err := m.git.Objects.Write(commit)
	return id.String(), err
}

// Unpushed implements repo.Objects.
func (m *mirror) Unpushed() int64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.git.Unpushed()
}

// Root implements scan.Repository.
func (m *mirror) Root(commit string) (root object.ID, err error) {
	err = m.withTree(commit, func(tree *object.Tree) error {
		root = tree.ID()
		return nil
	})
	return root, err
}

// List implements scan.Repository. It returns a complete list, because the lock must
// not be held while the caller reads the files.
func (m *mirror) List(ctx context.Context, commit string) ([]object.Entry, error) {
	return m.list(ctx, commit, maxFiles, maxPaths)
}

// list lists the files of a commit, up to a number of files and of bytes of their paths.
func (m *mirror) list(ctx context.Context, commit string, files, paths int) ([]object.Entry, error) {
	var entries []object.Entry
	size := 0
	err := m.withTree(commit, func(tree *object.Tree) error {
		for entry, err := range tree.Files() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			entries = append(entries, entry)
			if size += len(entry.Path); len(entries) > files || size > paths {
				return fault.New(fault.Invalid,
					"the commit %.7s has more than %d files, or more than %d MiB of paths", commit, files, paths>>20)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// File implements scan.Repository.
func (m *mirror) File(commit, path string) (found object.Entry, err error) {
	err = m.withTree(commit, func(tree *object.Tree) (err error) {
		found, err = tree.Entry(path)
		return err
	})
	return found, err
}

// Entry implements scan.Repository.
func (m *mirror) Entry(path string, mode object.Mode, id object.ID) object.Entry {
	return m.git.Objects.File(path, mode, id)
}

// Content implements scan.Repository.
func (m *mirror) Content(file object.Entry, limit int64) ([]byte, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return file.Read(limit)
}
