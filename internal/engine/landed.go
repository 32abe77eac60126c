package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"
)

// Landed is what the history of a branch says was put into one place, by whoever:
// promoter, a person who merged, or a forge for either.
type Landed struct {
	promotion.Target
	Promotion string // its id
	Snapshot  promotion.Snapshot
	Commit    string    // on the branch
	At        time.Time // as the commit says
	By        string    // the committer's name
	Ours      bool      // promoter made the commit itself
}

// Landed reads what was put into the environments from the trailers in the
// first-parent history of their branches, newest first in each, as far as it is
// readable. It stops at the commit up to which a branch was read before, of known, and
// at the time. What was merged without trailers, by a squash with other words for
// instance, is not in it: there the forge alone knows.
func (l *Reconciler) Landed(ctx context.Context, report Report, known map[string]string, since time.Time) ([]Landed, error) {
	if report.Config == nil {
		return nil, nil
	}
	v := &view{Reconciler: l, heads: report.Heads, past: map[string]Tree{}, refs: Refs{Default: report.Default}}
	v.observed.Config = report.Config
	var all []Landed
	for _, branch := range sortedKeys(v.byBranch()) {
		head := v.heads[branch]
		if head == "" || head == known[branch] {
			continue
		}
		landed, err := v.landedOn(ctx, branch, known[branch], since)
		if err != nil {
			return nil, fmt.Errorf("read what landed on %s: %w", branch, err)
		}
		all = append(all, landed...)
	}
	return all, nil
}

// landedOn reads one branch. Attempts are counted over all that is readable, also
// over what is known already.
func (v *view) landedOn(ctx context.Context, branch, known string, since time.Time) ([]Landed, error) {
	found, read, err := v.placesOn(branch, known, since)
	if err != nil {
		return nil, err
	}
	var all []Landed
	for _, target := range slices.SortedFunc(maps.Keys(found), promotion.Target.Compare) {
		fresh := slices.DeleteFunc(slices.Clone(found[target]), func(l promotion.Landing) bool { return !read[l.Commit] })
		believed, err := v.believed(ctx, target, fresh)
		if err != nil {
			return nil, err
		}
		for _, l := range believed {
			one, err := v.toldAs(target, l, found[target])
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// maxRecalled bounds how many commits of others are read again in one branch, to see
// that their files say what their trailers do: each is a tree. It counts when a database
// begins anew.
const maxRecalled = 200

// placesOn walks a branch, and says which commits are new and to be told.
func (v *view) placesOn(branch, known string, since time.Time) (map[promotion.Target][]promotion.Landing, map[string]bool, error) {
	found, read := map[promotion.Target][]promotion.Landing{}, map[string]bool{}
	n, others, fresh := 0, 0, true
	for commit, err := range v.Objects.History(v.heads[branch]) {
		if err != nil {
			return nil, nil, err
		}
		fresh = fresh && commit.ID != known
		tell := fresh && commit.Committer.When.After(since) && (v.isOurs(commit) || others < maxRecalled)
		for _, landed := range promotion.ReadTrailers(v.trailersOf(commit)) {
			if v.baseOf(landed.Target) != branch {
				continue
			}
			found[landed.Target] = append(found[landed.Target], promotion.Landing{Commit: commit.ID, Snapshot: landed.Snapshot})
			read[commit.ID] = tell
		}
		if read[commit.ID] && !v.isOurs(commit) {
			others++
		}
		if n++; n == maxCommits || commit.Shallow {
			break
		}
	}
	return found, read, nil
}

// toldAs is a landing with its promotion's id, among all of its place, newest first.
func (v *view) toldAs(target promotion.Target, l promotion.Landing, all []promotion.Landing) (Landed, error) {
	commit, err := v.Objects.Commit(l.Commit)
	if err != nil {
		return Landed{}, err
	}
	id, attempt := l.Snapshot.ID(), 0
	at := slices.IndexFunc(all, func(other promotion.Landing) bool { return other.Commit == l.Commit })
	for _, other := range all[at:] {
		if other.Snapshot.ID() == id {
			attempt++
		}
	}
	return Landed{
		Target: target, Promotion: promotion.ID(v.Repository.Info().Key, target, id, attempt), Snapshot: l.Snapshot,
		Commit: l.Commit, At: commit.Committer.When, By: commit.Committer.Name, Ours: v.isOurs(commit),
	}, nil
}

// HistoryFromGit reads what can be told of the past without a database: what landed since the
// time, and what people decided that still stands. It asks no registry and writes
// nothing.
func (l *Reconciler) HistoryFromGit(ctx context.Context, since time.Time) (Report, []Landed, error) {
	v := &view{Reconciler: l, now: l.Now(), unread: map[string]error{}, told: map[string]bool{}}
	info := l.Repository.Info()
	v.report.Repository, v.report.Name = info.Key, info.Name
	for _, look := range []func(context.Context) error{v.lookAtRepository, v.lookAtBranches, v.lookAtState} {
		if err := look(ctx); err != nil || v.report.Unusable != "" {
			return v.report, nil, err
		}
	}
	for branch := range v.byBranch() {
		if v.heads[branch] == "" {
			continue
		}
		if err := v.Remote.Deepen(ctx, branch, since); err != nil {
			return v.report, nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
	}
	v.tellEnd()
	landed, err := l.Landed(ctx, v.report, nil, since)
	return v.report, landed, err
}

// tellState reports people's decisions as they are known now: a pass may fulfill one,
// and remove it.
func (v *view) tellState() { v.report.UserDecisions = append(v.report.UserDecisions, v.observed.State) }

// tellEnd reports how the pass left everything.
func (v *view) tellEnd() {
	v.report.Heads, v.report.Default, v.report.Landings = v.heads, v.refs.Default, v.observed.Landings
	v.tellState()
}
