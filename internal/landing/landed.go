package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// This file reads what landed for the history that users see, with who did it. No decision is
// made from it.

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
func (r Reader) Landed(ctx context.Context, o Observed, known map[string]string, since time.Time) ([]Landed, error) {
	var all []Landed
	for _, branch := range slices.Sorted(maps.Keys(o.Promotion.EnvironmentsByBranch())) {
		head := o.Heads[branch]
		if head == "" || head == known[branch] {
			continue
		}
		fresh, err := freshClaims(r.Objects, o, branch, known[branch], since)
		if err != nil {
			return nil, fmt.Errorf("read what landed on %s: %w", branch, err)
		}
		landed, err := r.prover(o).landed(ctx, fresh, r.Repository.Info().Key)
		if err != nil {
			return nil, fmt.Errorf("read what landed on %s: %w", branch, err)
		}
		all = append(all, landed...)
	}
	return all, nil
}

// recentClaims are the claims of new commits of a branch, with older ones of the same snapshots.
type recentClaims struct {
	claims []claim
	fresh  map[string]bool // the new commits
}

// freshClaims reads one branch. Attempts are counted over all that is readable, also over
// what is known already.
func freshClaims(objects repo.Commits, o Observed, branch, known string, since time.Time) (recentClaims, error) {
	type attempt struct {
		promotion.Target
		snapshot string
	}
	attempts := map[attempt]bool{}
	read := recentClaims{fresh: map[string]bool{}}
	reached := false // the known commit
	for commit, err := range repo.FirstParents(objects, o.Heads[branch], maxCommits) {
		if err != nil {
			return read, err
		}
		reached = reached || commit.ID == known
		for _, c := range claimsOf(objects, commit) {
			if o.Promotion.BaseOf(c.Target) != branch {
				continue
			}
			read.claims = append(read.claims, c)
			if !reached && commit.Committer.When.After(since) {
				read.fresh[commit.ID] = true
				attempts[attempt{c.Target, c.SnapshotID}] = true
			}
		}
		if commit.Shallow {
			break
		}
	}
	read.claims = slices.DeleteFunc(read.claims, func(c claim) bool { return !attempts[attempt{c.Target, c.SnapshotID}] })
	return read, nil
}

// landed returns the landings of new commits of a repository.
func (p prover) landed(ctx context.Context, recent recentClaims, repository identity.RepositoryKey) ([]Landed, error) {
	verified, err := p.verify(ctx, recent.claims)
	if err != nil {
		return nil, err
	}
	var all []Landed
	for _, target := range sortedTargets(verified) {
		landings := verified[target].found
		for i, l := range landings {
			if !recent.fresh[l.Commit] {
				continue
			}
			commit, err := p.from.Objects.Commit(l.Commit)
			if err != nil {
				return nil, err
			}
			moves, err := movesOf(ctx, p.from.Past, target, commit, l)
			if err != nil {
				return nil, err
			}
			id := l.Snapshot.ID()
			attempt := 0
			for _, other := range landings[i:] {
				if other.Snapshot.ID() == id {
					attempt++
				}
			}
			all = append(all, Landed{
				Target:      target,
				Promotion:   promotion.ID(repository, target, id, attempt),
				Snapshot:    l.Snapshot,
				Moves:       moves,
				Commit:      l.Commit,
				At:          commit.Committer.When,
				By:          committerOf(commit),
				Ours:        l.ours,
				Attribution: l.attribution,
				Unproven:    l.unproven,
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
			from, to := landed.Before[component].Version, landed.Snapshot[component].Version
			moves = append(moves, promotion.Move{Component: component, From: from, To: to})
		}
		return moves, nil
	}
	if len(commit.Parents) == 0 || commit.Shallow {
		return nil, nil
	}
	files, err := past.At(ctx, target, commit.Parents[0])
	if err != nil {
		return nil, err
	}
	before := promotion.Snapshot{}
	for _, r := range files.References {
		before[r.Component] = promotion.Pinned{Version: r.Version()}
	}
	return promotion.ChangesOf(before, landed.Snapshot), nil
}
