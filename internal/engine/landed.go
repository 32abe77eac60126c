package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
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
	By        string           // the committer's name
	Ours      bool             // promoter made the commit itself
}

// Landed reads the landings from the trailers in the first-parent history of the
// branches of a report, newest first in each, as far as it is readable. It stops at the
// known commit of a branch, and at the time. A merge without trailers, such as a squash
// with another message, is not included: only the forge knows about it.
func (r *Reconciler) Landed(ctx context.Context, report Report, known map[string]string, since time.Time) ([]Landed, error) {
	if report.Config == nil {
		return nil, nil
	}
	o := Observation{Info: r.Repository.Info(), Heads: report.Heads, Refs: repo.Refs{Default: report.Default}}
	o.Promotion.Config = report.Config
	h := r.historyReader(r.pastFiles(report.Config))
	var all []Landed
	for _, branch := range slices.Sorted(maps.Keys(o.environmentsByBranch())) {
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
func (h historyReader) landedOn(ctx context.Context, o Observation, branch, known string, since time.Time) ([]Landed, error) {
	type attempt struct {
		promotion.Target
		snapshot string
	}
	var claims []claim
	fresh, wanted, attempts := true, map[string]bool{}, map[attempt]bool{}
	n := 0
	for commit, err := range h.objects.History(o.Heads[branch]) {
		if err != nil {
			return nil, err
		}
		fresh = fresh && commit.ID != known
		for _, c := range h.claimsOf(commit) {
			if o.baseOf(c.Target) != branch {
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
			commit, err := h.objects.Commit(l.Commit)
			if err != nil {
				return nil, err
			}
			id, attempt := l.Snapshot.ID(), 0
			for _, other := range landings[i:] {
				if other.Snapshot.ID() == id {
					attempt++
				}
			}
			moves, err := h.movesOf(ctx, target, commit, l)
			if err != nil {
				return nil, err
			}
			all = append(all, Landed{
				Target: target, Promotion: promotion.ID(o.Info.Key, target, id, attempt), Snapshot: l.Snapshot, Moves: moves,
				Commit: l.Commit, At: commit.Committer.When, By: commit.Committer.Name, Ours: l.ours,
			})
		}
	}
	return all, nil
}

// movesOf returns what a landing changed: the versions that it replaced are in the files
// before the commit.
func (h historyReader) movesOf(ctx context.Context, target promotion.Target, commit repo.Commit, landed landing) ([]promotion.Move, error) {
	before := promotion.Snapshot{}
	if len(landed.Before) > 0 {
		before = maps.Clone(landed.Snapshot)
		maps.Copy(before, landed.Before)
		return promotion.ChangesOf(before, landed.Snapshot), nil
	}
	if len(commit.Parents) == 0 || commit.Shallow {
		return nil, nil
	}
	files, err := h.past.at(ctx, target, commit.Parents[0])
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

// HistoryFromGit reads the history without a database: what landed since the time, and
// the user decisions that are in effect. It queries no registry and writes nothing.
func (r *Reconciler) HistoryFromGit(ctx context.Context, since time.Time) (Report, []Landed, error) {
	o, err := r.observeRefs(ctx, true)
	if err != nil || o.Unusable != "" {
		return o.report(), nil, err
	}
	if o, err = r.observeBranches(ctx, o); err != nil || o.Unusable != "" {
		return o.report(), nil, err
	}
	for branch := range o.environmentsByBranch() {
		if o.Heads[branch] == "" {
			continue
		}
		if err := r.Remote.Deepen(ctx, branch, since); err != nil {
			return o.report(), nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
	}
	report := o.finalReport(Plan{}, nil)
	landed, err := r.Landed(ctx, report, nil, since)
	return report, landed, err
}

// PreviousSnapshot returns the snapshot that was in a target before the current one: the
// one that a rollback restores. What came after the current one first landed is no
// candidate, because a user rolled it back or reverted it, and neither is what users
// rejected.
func (r *Reconciler) PreviousSnapshot(ctx context.Context, target promotion.Target) (promotion.Snapshot, error) {
	o, err := r.withoutCommands().observe(ctx, true)
	if err != nil {
		return nil, err
	}
	if o.Unusable != "" {
		return nil, fault.New(fault.Invalid, "%s", o.Unusable)
	}
	if _, present := o.Promotion.Targets[target]; !present {
		return nil, fault.New(fault.NotFound, "%s has no files in %s", target.Application, target.Environment)
	}
	if reason, unavailable := o.Promotion.Unavailable[target.Environment]; unavailable {
		return nil, fault.New(fault.Temporary, "%s", reason)
	}
	h := r.historyReader(r.pastFiles(o.Promotion.Config))
	needs := map[string]*historyNeed{}
	addNeed(o, needs, target, maxHistory, true)
	var landings []promotion.Landing
	for branch, need := range needs {
		landed, err := h.readLandings(ctx, o, branch, need)
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
		history, err := h.readTarget(ctx, o, target, landed[target], true)
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
		landings = history.landings
	}
	first := len(landings) - 1 // the landing that first brought the current snapshot
	for first >= 0 && !o.isCurrent(target, landings[first].Snapshot) {
		first--
	}
	for _, landing := range landings[first+1:] {
		if o.rejects(target, landing.Snapshot) {
			continue
		}
		// A rollback restores only what ran here: the files of that commit prove it.
		files, err := h.past.at(ctx, target, landing.Commit)
		if err != nil {
			return nil, err
		}
		if containsSnapshot(files, landing.Snapshot) {
			return landing.Snapshot, nil
		}
	}
	var before promotion.Current
	if first >= 0 {
		if before, err = h.before(ctx, target, landings[first].Commit); err != nil {
			return nil, err
		}
	}
	return nil, nothingBefore(target, o.Promotion.Targets[target], before)
}

// rejects reports whether users rejected a version of a snapshot in a target.
func (o Observation) rejects(target promotion.Target, snapshot promotion.Snapshot) bool {
	for _, pinned := range snapshot {
		if _, rejected := o.Promotion.State.Rejected(state.Target(target), pinned.Repository, pinned.Version); rejected {
			return true
		}
	}
	return false
}

// before returns the files of a target before a commit, as far as they are readable.
func (h historyReader) before(ctx context.Context, target promotion.Target, commit string) (promotion.Current, error) {
	landed, err := h.objects.Commit(commit)
	if err != nil || landed.Shallow || len(landed.Parents) == 0 {
		return promotion.Current{}, nil //nolint:nilerr // not readable: then the versions are unknown
	}
	return h.past.at(ctx, target, landed.Parents[0])
}

// nothingBefore is the error of a target in which promoter landed nothing earlier. It has
// the commands that return to the versions before, which a user wrote.
func nothingBefore(target promotion.Target, current, before promotion.Current) error {
	var were, reject, with []string
	for _, old := range before.References {
		i := slices.IndexFunc(current.References, func(r edit.Reference) bool {
			return r.Component == old.Component && r.Repository == old.Repository && r.Tag != "" && old.Tag != "" && r.Tag != old.Tag
		})
		if text := old.Component + " " + old.Tag; i >= 0 && !slices.Contains(were, text) {
			were = append(were, text)
			reject = append(reject, old.Component+":"+current.References[i].Tag)
			with = append(with, "--with "+image.Reference{Name: old.Repository.Familiar(), Tag: old.Tag, Digest: old.Digest}.String())
		}
	}
	name, of := target.Name(), target.ApplicationFlag()
	if len(were) == 0 {
		return fault.New(fault.NotFound, "promoter landed nothing earlier in %s: reject the current versions with 'promoter reject', "+
			"and request others with 'promoter promote --to %s%s --with REPOSITORY:TAG'", name, target.Environment, of)
	}
	return fault.New(fault.NotFound, "promoter landed nothing earlier in %s, and before it did, the files had %s: to return to it, use "+
		"'promoter reject %s --env %s%s' and then 'promoter promote --to %s%s %s'", name, strings.Join(were, ", "),
		strings.Join(reject, " "), target.Environment, of, target.Environment, of, strings.Join(with, " "))
}
