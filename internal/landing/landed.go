package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Landed is a landing in one target that the history of a branch contains: by promoter,
// by a user who merged, or by a forge for either.
type Landed struct {
	promotion.Target
	Promotion string // its id
	Snapshot  promotion.Snapshot
	Moves     []promotion.Move // what it changed; empty: unknown
	Commit    string           // on the branch
	At        time.Time        // of the commit
	By        string           // the name of the committer, or of who merged on GitHub
	Ours      bool             // promoter made the commit itself
	// Attribution is who requested and approved it, according to the trailers. Unproven are
	// its parts, "request" and "approval", that anyone who can push could have written.
	Attribution promotion.Attribution
	Unproven    []string
}

// Landed reads the landings from the trailers in the first-parent history of the branches,
// newest first in each, as far as it is readable. It stops at the known commit of a branch,
// and at the time.
func (h Reader) Landed(ctx context.Context, o Observed, known map[string]string, since time.Time) ([]Landed, error) {
	var all []Landed
	for _, branch := range slices.Sorted(maps.Keys(o.Promotion.EnvironmentsByBranch())) {
		if head := o.Heads[branch]; head == "" || head == known[branch] {
			continue
		}
		landed, err := h.landedOn(ctx, o, branch, known[branch], since)
		if err != nil {
			return nil, fmt.Errorf("read what landed on %s: %w", branch, err)
		}
		all = append(all, landed...)
	}
	return all, nil
}

// landedOn reads one branch. Attempts are counted over all that is readable, also over
// what is known already.
func (h Reader) landedOn(ctx context.Context, o Observed, branch, known string, since time.Time) ([]Landed, error) {
	type attempt struct {
		promotion.Target
		snapshot string
	}
	var claims []claim
	fresh, wanted, attempts := true, map[string]bool{}, map[attempt]bool{}
	n := 0
	for commit, err := range h.Objects.History(o.Heads[branch]) {
		if err != nil {
			return nil, err
		}
		fresh = fresh && commit.ID != known
		for _, c := range claimsOf(h.Objects, commit) {
			if o.Promotion.BaseOf(c.Target) != branch {
				continue
			}
			claims = append(claims, c)
			if fresh && commit.Committer.When.After(since) {
				wanted[commit.ID], attempts[attempt{c.Target, c.SnapshotID}] = true, true
			}
		}
		if n++; n == maxCommits || commit.Shallow {
			break
		}
	}
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !attempts[attempt{c.Target, c.SnapshotID}] })
	verified, err := h.verify(ctx, o, claims)
	if err != nil {
		return nil, err
	}
	var all []Landed
	for _, target := range slices.SortedFunc(maps.Keys(verified), promotion.Target.Compare) {
		landings := verified[target].found
		for i, l := range landings {
			if !wanted[l.Commit] {
				continue
			}
			commit, err := h.Objects.Commit(l.Commit)
			if err != nil {
				return nil, err
			}
			id, attempt := l.Snapshot.ID(), 0
			for _, other := range landings[i:] {
				if other.Snapshot.ID() == id {
					attempt++
				}
			}
			moves, err := movesOf(ctx, h.Past, target, commit, l)
			if err != nil {
				return nil, err
			}
			all = append(all, Landed{
				Target: target, Promotion: promotion.ID(h.Repository.Info().Key, target, id, attempt), Snapshot: l.Snapshot, Moves: moves,
				Commit: l.Commit, At: commit.Committer.When, By: committerOf(commit), Ours: l.ours,
				Attribution: l.attribution, Unproven: l.unproven,
			})
		}
	}
	return all, nil
}

// committerOf returns the name of who made a commit. GitHub is the committer of its merges, and
// who merged is the author. The author of what it squashes opened the pull request.
func committerOf(commit repo.Commit) string {
	if len(commit.Parents) == 2 && commit.Author.Created(commit) {
		return commit.Author.Name
	}
	return commit.Committer.Name
}

// movesOf returns what a landing changed: the versions that it replaced are in the files
// before the commit.
func movesOf(ctx context.Context, past *PastFiles, target promotion.Target, commit repo.Commit, landed landing) ([]promotion.Move, error) {
	if len(landed.Before) > 0 {
		var moves []promotion.Move // also to the same version in another form
		for _, component := range landed.Before.Components() {
			moves = append(moves, promotion.Move{Component: component, From: landed.Before[component].Version, To: landed.Snapshot[component].Version})
		}
		return moves, nil
	}
	before := promotion.Snapshot{}
	if len(commit.Parents) == 0 || commit.Shallow {
		return nil, nil
	}
	files, err := past.At(ctx, target, commit.Parents[0])
	if err != nil {
		return nil, err
	}
	for _, r := range files.References {
		pinned := before[r.Component]
		pinned.Version.Tag, pinned.Version.Digest = r.Tag, r.Digest
		before[r.Component] = pinned
	}
	return promotion.ChangesOf(before, landed.Snapshot), nil
}

// rejects reports whether users rejected a version of a snapshot in a target.
func (o Observed) rejects(target promotion.Target, snapshot promotion.Snapshot) bool {
	for _, pinned := range snapshot {
		if _, rejected := o.Promotion.State.Rejected(state.Target(target), pinned.Repository, pinned.Version); rejected {
			return true
		}
	}
	return false
}

// before returns the files of a target before a commit, as far as they are readable.
func (h Reader) before(ctx context.Context, target promotion.Target, commit string) (promotion.Current, error) {
	landed, err := h.Objects.Commit(commit)
	if err != nil || landed.Shallow || len(landed.Parents) == 0 {
		return promotion.Current{}, nil //nolint:nilerr // not readable: then the versions are unknown
	}
	return h.Past.At(ctx, target, landed.Parents[0])
}
