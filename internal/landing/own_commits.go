package landing

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file recognizes the commits that promoter wrote. Any user can write its name, so the
// commit is written again from its parent, and must have the same files.

// wrote reports whether the head of one of our branches is a commit of ours: by its
// committer, or, because the identity can be configured, by its content: it is what promoter
// writes for the versions in its trailers. The head is rewritten and compared again before it
// lands, so here the name of the committer is enough.
func (r Reader) wrote(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	if r.By.Committed(head) {
		return true, nil
	}
	if len(head.Parents) != 1 {
		return false, nil
	}
	return r.writesAgain(ctx, branch, head)
}

// writesAgain reports whether a commit on one of our branches has what promoter writes on its parent for the versions in
// its trailers, and nothing else.
func (r Reader) writesAgain(ctx context.Context, branch string, head repo.Commit) (bool, error) {
	of, named := promotion.ParseHead(branch)
	if !named {
		return false, nil
	}
	landed := promotion.ReadTrailers(head.Trailers)
	_, known := r.Past.config.Environment(of.Environment)
	foreign := func(l promotion.Landed) bool { return !Covers(of, l.Target) }
	if !known || len(landed) == 0 || slices.ContainsFunc(landed, foreign) {
		return false, nil
	}
	if readable, err := r.ReadParent(ctx, branch, head); err != nil || !readable {
		return false, err
	}
	again, err := r.writeAgain(ctx, head)
	if fault.KindOf(err) == fault.Invalid {
		return false, nil
	}
	if err != nil || len(again.refused) > 0 {
		return false, err
	}
	changed, err := r.Objects.Changed(head.Parents[0], head.ID)
	if err != nil || len(changed) != len(again.files) {
		return false, err
	}
	return !slices.ContainsFunc(changed, func(path string) bool { return !again.has(r.Objects, head.ID, path) }), nil
}

// Covers reports whether a commit on the branch of a target may name another target.
// Anyone who can push can write trailers.
func Covers(branch, target promotion.Target) bool {
	return branch.Environment == target.Environment && (branch.Application == state.All || branch.Application == target.Application)
}

// isOurs reports whether a commit with our committer is what promoter writes: its parent with
// the versions of the trailers, and nothing else. If it certainly is not, why is the reason. It
// is uncertain if the config was another one, or if the files refuse the same edit.
func (p prover) isOurs(ctx context.Context, commit repo.Commit) (ours bool, why string, err error) {
	if len(commit.Parents) != 1 || commit.Shallow {
		return commit.Shallow, "", nil // not readable: then the name is believed for now
	}
	again, err := p.from.writeAgain(ctx, commit)
	if err != nil {
		return false, "", err
	}
	changed, err := p.from.Objects.Changed(commit.Parents[0], commit.ID)
	if err != nil {
		return false, "", err
	}
	differs := func(path string) bool { return !again.refused[path] && !again.has(p.from.Objects, commit.ID, path) }
	i := slices.IndexFunc(changed, differs)
	if i < 0 {
		return true, "", nil
	}
	if changed[i] != repo.ConfigFile && !p.hasConfigOfNow(commit.Parents[0]) {
		return false, "", nil
	}
	const more = "commit %.7s has the committer of promoter, and changes more than versions in %.120q: it counts as a change by a user"
	return false, fmt.Sprintf(more, commit.ID, changed[i]), nil
}

// hasConfigOfNow reports whether a commit has the config of now.
func (p prover) hasConfigOfNow(commit string) bool {
	then, err := p.from.Objects.Read(commit, repo.ConfigFile, config.MaxSize)
	if err != nil {
		return false
	}
	now, err := p.from.Objects.Read(p.o.Heads[p.o.Promotion.DefaultBranch], repo.ConfigFile, config.MaxSize)
	return err == nil && bytes.Equal(then, now)
}

// writtenAgain is what promoter writes for the trailers of a commit.
type writtenAgain struct {
	files   map[string][]byte
	refused map[string]bool // files of which the result is not known
}

// has reports whether a file of a commit has the content that was written again.
func (w writtenAgain) has(objects repo.Contents, commit, path string) bool {
	want, known := w.files[path]
	if !known {
		return false
	}
	content, err := objects.Read(commit, path, int64(len(want)))
	return err == nil && bytes.Equal(content, want)
}

// writeAgain makes the edit of a commit again from its parent, for what its trailers name
// and the commit changed.
func (r Reader) writeAgain(ctx context.Context, commit repo.Commit) (writtenAgain, error) {
	w := writtenAgain{files: map[string][]byte{}, refused: map[string]bool{}}
	for _, landed := range promotion.ReadTrailers(commit.Trailers) {
		if _, known := r.Past.config.Environment(landed.Environment); !known {
			continue
		}
		tree, err := r.Past.tree(ctx, landed.Environment, commit.Parents[0])
		if err != nil {
			return w, err
		}
		after, err := r.Past.At(ctx, landed.Target, commit.ID)
		if err != nil {
			return w, err
		}
		before := tree.Targets()[landed.Target]
		moves := changedMoves(landed, before, after)
		again, err := tree.Rewrite(ctx, landed.Target, moves)
		edited := func(path string) bool { return w.files[path] != nil } // for another target of the same commit
		if err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(again.Files)), edited) {
			again, err = r.rewriteOn(ctx, commit, w.files, landed.Target, moves)
		}
		if err != nil {
			return w, fmt.Errorf("rewrite %s at %.7s: %w", landed.Name(), commit.Parents[0], err)
		}
		maps.Copy(w.files, again.Files)
		if len(again.Refusals) > 0 {
			for _, reference := range slices.Concat(before.References, before.Derived) {
				w.refused[reference.Position.File] = true
			}
		}
	}
	maps.DeleteFunc(w.files, func(path string, _ []byte) bool { return w.refused[path] })
	return w, nil
}

// changedMoves returns the moves to the components of a snapshot that differ between the files
// of a target before and after.
func changedMoves(landed promotion.Landed, before, after promotion.Current) []promotion.Move {
	var moves []promotion.Move
	for _, component := range landed.Snapshot.Components() {
		was, is := referencesTo(before, component), referencesTo(after, component)
		same := slices.EqualFunc(was, is, func(a, b edit.Reference) bool { return sameAs(a)(b) })
		if same && sameDerived(before, after, component) {
			continue
		}
		to := landed.Snapshot[component].Version
		for _, place := range after.Derived { // what no trailer has; all that is made of it must be the same
			if read := edit.ReadTemplate(place.Template, place.Text); place.Component == component {
				to.Revision = cmp.Or(to.Revision, read.Revision)
				to.Version = cmp.Or(to.Version, read.Version)
			}
		}
		moves = append(moves, promotion.Move{Component: component, To: to})
	}
	return moves
}

// sameDerived reports whether the derived places of a component have the same texts before and after.
func sameDerived(before, after promotion.Current, component string) bool {
	of := func(files promotion.Current) (texts []string) {
		for _, place := range files.Derived {
			if place.Component == component {
				texts = append(texts, place.Position.File+" "+place.Template+" "+place.Text)
			}
		}
		return texts
	}
	return slices.Equal(of(before), of(after))
}

// rewriteOn rewrites a target in the parent of a commit, in which files were edited before. It
// writes them to a commit that is not pushed, because only files of commits can be rewritten.
func (r Reader) rewriteOn(
	ctx context.Context, of repo.Commit, edited map[string][]byte, target promotion.Target, moves []promotion.Move,
) (repo.Rewritten, error) {
	commit, err := r.Objects.Write(repo.Draft{Parent: of.Parents[0], Files: edited, By: of.Committer, Message: "intermediate"})
	if err != nil {
		return repo.Rewritten{}, err
	}
	tree, err := r.Past.files.At(ctx, r.Past.config, commit, []string{target.Environment})
	if err != nil {
		return repo.Rewritten{}, err
	}
	return tree.Rewrite(ctx, target, moves)
}
