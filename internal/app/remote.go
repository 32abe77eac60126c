package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/telemetry"
)

// gitRemote is the repository where everybody pushes, seen through its mirror. It
// is engine.Remote, and with gitObjects the one owner of the mirror, which is not
// for several goroutines: everything that touches it holds the lock.
type gitRemote struct {
	mirror *git.Mirror
	mutex  sync.Mutex
	listed map[string]object.ID // by branch, of the last listing; nil: none
}

// Refs implements engine.Remote.
func (r *gitRemote) Refs(ctx context.Context) (_ engine.Refs, err error) {
	ctx, span := telemetry.Begin(ctx, "git list")
	defer func() { span.End(err) }()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found, err := r.mirror.List(ctx)
	if err != nil {
		return engine.Refs{}, err
	}
	r.listed = found.Branches
	refs := engine.Refs{Default: found.Default, Branches: make(map[string]string, len(found.Branches))}
	for branch, id := range found.Branches {
		refs.Branches[branch] = id.String()
	}
	return refs, nil
}

// Fetch implements engine.Remote.
func (r *gitRemote) Fetch(ctx context.Context, branches ...string) (map[string]string, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if heads, ok := r.here(branches); ok {
		return heads, nil
	}
	ctx, span := telemetry.Begin(ctx, "git fetch", slog.Any(traceBranches, branches))
	found, err := r.mirror.Fetch(ctx, branches...)
	span.End(err)
	if err != nil {
		return nil, err
	}
	heads := make(map[string]string, len(found))
	for branch, id := range found {
		heads[branch] = id.String()
	}
	return heads, nil
}

// here returns the branches as they were listed when the mirror has them all. It
// saves an idle pass the second request.
func (r *gitRemote) here(branches []string) (map[string]string, bool) {
	if r.listed == nil {
		return nil, false
	}
	heads := make(map[string]string, len(branches))
	for _, branch := range branches {
		id, there := r.listed[branch]
		if !there {
			continue
		}
		if have, ok := r.mirror.Have(branch); !ok || have != id {
			return nil, false
		}
		heads[branch] = id.String()
	}
	return heads, true
}

// Deepen implements engine.Remote.
func (r *gitRemote) Deepen(ctx context.Context, branch string, since time.Time) (err error) {
	ctx, span := telemetry.Begin(ctx, "git deepen", slog.Any(traceBranches, []string{branch}))
	defer func() { span.End(err) }()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.mirror.Deepen(ctx, branch, since)
}

// Push implements engine.Remote. What was listed before is no longer so, whatever
// comes of it.
func (r *gitRemote) Push(ctx context.Context, updates ...engine.Update) (err error) {
	ctx, span := telemetry.Begin(ctx, "git push", slog.Any(traceBranches, branchesOf(updates)))
	defer func() { span.End(err) }()
	pushed := make([]git.Update, 0, len(updates))
	for _, update := range updates {
		one := git.Update{Branch: update.Branch}
		var err error
		if one.Old, err = parseID(update.Old); err != nil {
			return err
		}
		if one.New, err = parseID(update.New); err != nil {
			return err
		}
		pushed = append(pushed, one)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.listed = nil
	return r.mirror.Push(ctx, pushed...)
}

func branchesOf(updates []engine.Update) (branches []string) {
	for _, update := range updates {
		branches = append(branches, update.Branch)
	}
	return branches
}

// parseID reads a commit; the empty text is no commit.
func parseID(text string) (object.ID, error) {
	if text == "" {
		return object.ID{}, nil
	}
	return object.ParseID(text)
}
