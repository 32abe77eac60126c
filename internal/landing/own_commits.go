package landing

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// ReadParent makes the parent of the head of a branch readable. A mirror with little
// history needs more: first as much as most heads need.
func (h Reader) ReadParent(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	for _, back := range []time.Duration{recentHistory, maxHistory} {
		if _, err := h.Objects.Commit(head.Parents[0]); fault.KindOf(err) != fault.NotFound {
			break
		}
		if err := h.Remote.Deepen(ctx, branch, head.Committer.When.Add(-back)); err != nil {
			return false, fmt.Errorf("deepen %s: %w", branch, err)
		}
	}
	_, err := h.Objects.Commit(head.Parents[0])
	return err == nil, repo.IgnoreNotFound(err)
}

// OnBranch reports whether a commit is in the first-parent history of the tip of a branch.
func (h Reader) OnBranch(ctx context.Context, branch, tip, commit string) (bool, error) {
	is := func(c repo.Commit) bool { return c.ID == commit }
	if _, found, complete := newest(h.Objects, tip, is); found || complete {
		return found, nil
	}
	wanted, err := h.Objects.Commit(commit)
	if err != nil {
		return false, repo.IgnoreNotFound(err)
	}
	_, found, err := h.newestOnBranch(ctx, branch, tip, wanted.Committer.When, is)
	return found, err
}

// Merged reports whether a head is in a branch already: the branch was fast-forwarded to it, or
// has a merge of it. The head has one parent, on the branch.
func (h Reader) Merged(ctx context.Context, branch, tip string, head repo.Commit) (bool, error) {
	base := head.Parents[0]
	commit, found, err := h.newestOnBranch(ctx, branch, tip, head.Committer.When, func(c repo.Commit) bool {
		return c.ID == base || c.ID == head.ID || slices.Contains(c.Parents, head.ID)
	})
	return found && commit.ID != base, err
}

// newestOnBranch returns the newest commit that matches in the first-parent history of the tip
// of a branch. It fetches more history, back to a time, if what is readable may end too early.
func (h Reader) newestOnBranch(ctx context.Context, branch, tip string, since time.Time, matches func(repo.Commit) bool) (repo.Commit, bool, error) {
	commit, found, complete := newest(h.Objects, tip, matches)
	if found || complete {
		return commit, found, nil
	}
	if err := h.Remote.Deepen(ctx, branch, since); err != nil {
		return commit, false, fmt.Errorf("deepen %s: %w", branch, err)
	}
	commit, found, _ = newest(h.Objects, tip, matches)
	return commit, found, nil
}

// newest returns the newest commit that matches in the first-parent history of a head, and
// whether all that could contain one was readable.
func newest(objects repo.Objects, head string, matches func(repo.Commit) bool) (commit repo.Commit, found, complete bool) {
	n := 0
	for c, err := range objects.History(head) {
		if n++; err != nil || n > maxCommits {
			return commit, false, true
		}
		if matches(c) {
			return c, true, true
		}
		complete = !c.Shallow
	}
	return commit, false, complete
}

// Wrote reports whether the head of one of our branches is a commit of ours: by its
// committer, or, because the identity can be configured, by its content: it is what promoter
// writes for the versions in its trailers.
func (h Reader) Wrote(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	if h.By.Committed(head) {
		return true, nil
	}
	of, named := promotion.ParseHead(branch)
	landed := promotion.ReadTrailers(head.Trailers)
	_, known := h.Past.config.Environment(of.Environment)
	foreign := func(l promotion.Landed) bool { return !Covers(of, l.Target) }
	if !named || !known || len(landed) == 0 || len(head.Parents) != 1 || slices.ContainsFunc(landed, foreign) {
		return false, nil
	}
	if readable, err := h.ReadParent(ctx, branch, head); err != nil || !readable {
		return false, err
	}
	edited, refused, err := h.writtenAgain(ctx, head)
	if fault.KindOf(err) == fault.Invalid {
		return false, nil
	}
	if err != nil || len(refused) > 0 {
		return false, err
	}
	changed, err := h.Objects.Changed(head.Parents[0], head.ID)
	if err != nil || len(changed) != len(edited) {
		return false, err
	}
	return !slices.ContainsFunc(changed, func(path string) bool { return !hasContent(h.Objects, head.ID, path, edited) }), nil
}

// Covers reports whether a commit on the branch of a target may name another target.
// Anyone who can push can write trailers.
func Covers(branch, target promotion.Target) bool {
	return branch.Environment == target.Environment && (branch.Application == state.All || branch.Application == target.Application)
}

// isOurs reports whether a commit with our committer is what promoter writes: its parent with
// the versions of the trailers, and nothing else. If it certainly is not, why is the reason. It
// is uncertain if the config was another one, or if the files refuse the same edit.
func (h Reader) isOurs(ctx context.Context, o Observed, commit repo.Commit) (ours bool, why string, err error) {
	if len(commit.Parents) != 1 || commit.Shallow {
		return commit.Shallow, "", nil
	}
	edited, refused, err := h.writtenAgain(ctx, commit)
	if err != nil {
		return false, "", err
	}
	changed, err := h.Objects.Changed(commit.Parents[0], commit.ID)
	if err != nil {
		return false, "", err
	}
	for _, path := range changed {
		if refused[path] || hasContent(h.Objects, commit.ID, path, edited) {
			continue
		}
		if path == repo.ConfigFile || sameConfig(h.Objects, o, commit.Parents[0]) {
			why = fmt.Sprintf("commit %.7s has the committer of promoter, and changes more than versions in %.120q: it counts as a change by a user", commit.ID, path)
		}
		return false, why, nil
	}
	return true, "", nil
}

// hasContent reports whether a file of a commit has the content that was written again.
func hasContent(objects repo.Objects, commit, path string, edited map[string][]byte) bool {
	want, known := edited[path]
	content, err := objects.Read(commit, path, int64(len(want)))
	return known && err == nil && bytes.Equal(content, want)
}

// writtenAgain makes the edit of a commit again from its parent, for what its trailers name
// and the commit changed. Refused are the files of which the result is not known.
func (h Reader) writtenAgain(ctx context.Context, commit repo.Commit) (edited map[string][]byte, refused map[string]bool, err error) {
	edited, refused = map[string][]byte{}, map[string]bool{}
	for _, landed := range promotion.ReadTrailers(commit.Trailers) {
		if _, known := h.Past.config.Environment(landed.Environment); !known {
			continue
		}
		tree, err := h.Past.tree(ctx, landed.Environment, commit.Parents[0])
		if err != nil {
			return nil, nil, err
		}
		after, err := h.Past.At(ctx, landed.Target, commit.ID)
		if err != nil {
			return nil, nil, err
		}
		before := tree.Targets()[landed.Target]
		var moves []promotion.Move
		for _, component := range landed.Snapshot.Components() {
			was, is := referencesTo(before, component), referencesTo(after, component)
			if !slices.EqualFunc(was, is, func(a, b edit.Reference) bool { return sameAs(a)(b) }) {
				moves = append(moves, promotion.Move{Component: component, To: landed.Snapshot[component].Version})
			}
		}
		again, err := tree.Rewrite(ctx, landed.Target, moves)
		if err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(again.Files)), func(path string) bool { return edited[path] != nil }) {
			again, err = h.rewriteOn(ctx, commit, edited, landed.Target, moves)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("rewrite %s at %.7s: %w", landed.Name(), commit.Parents[0], err)
		}
		maps.Copy(edited, again.Files)
		if len(again.Refusals) > 0 {
			for _, r := range before.References {
				refused[r.Position.File] = true
			}
		}
	}
	maps.DeleteFunc(edited, func(path string, _ []byte) bool { return refused[path] })
	return edited, refused, nil
}

// rewriteOn rewrites a target in the parent of a commit, in which files were edited before.
func (h Reader) rewriteOn(ctx context.Context, of repo.Commit, edited map[string][]byte, target promotion.Target, moves []promotion.Move) (repo.Rewritten, error) {
	commit, err := h.Objects.Write(repo.Draft{Parent: of.Parents[0], Files: edited, By: of.Committer, Message: "intermediate"})
	if err != nil {
		return repo.Rewritten{}, err
	}
	tree, err := h.Past.files.At(ctx, h.Past.config, commit, []string{target.Environment})
	if err != nil {
		return repo.Rewritten{}, err
	}
	return tree.Rewrite(ctx, target, moves)
}

// sameConfig reports whether a commit has the config of now.
func sameConfig(objects repo.Objects, o Observed, commit string) bool {
	then, err := objects.Read(commit, repo.ConfigFile, config.MaxSize)
	now, problem := objects.Read(o.Heads[o.Promotion.DefaultBranch], repo.ConfigFile, config.MaxSize)
	return err == nil && problem == nil && bytes.Equal(then, now)
}
