package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// How far back history is read. A version cannot have landed anywhere before it was
// created. Where that time is unknown, and to find what a child may still promote, a
// month must be enough. The landing of the current version may be older.
const (
	recentHistory = 30 * 24 * time.Hour
	maxHistory    = 400 * 24 * time.Hour
	maxCommits    = 20_000 // of one walk
	// maxCheckedLandings is how many landings of a target get their checks.
	maxCheckedLandings = 3
)

// historyNeed is what the plan needs from the history of one branch.
type historyNeed struct {
	since time.Time
	// targets are those to read about; true: the landing of their current snapshot is
	// needed too.
	targets map[promotion.Target]bool
}

// targetHistory is what the history of its branch contains about a target.
type targetHistory struct {
	landings []promotion.Landing // newest first, the current one at the front; nil: not needed
	attempts map[string]int      // how often each snapshot landed, by id
	reverted []promotion.Reversion
	changes  []state.Change // times to remember
}

// historyReader reads what landed in targets.
type historyReader struct {
	remote     Remote
	objects    Objects
	repository scm.Repository
	by         Signature // of our commits
	past       *pastFiles
}

func (r *Reconciler) historyReader(past *pastFiles) historyReader {
	return historyReader{remote: r.Remote, objects: r.Objects, repository: r.Repository, by: r.By, past: past}
}

// observe reads from the branches what landed where, for the targets in which something
// would change, and for those that it would come from.
func (h historyReader) observe(ctx context.Context, o Observation) (Observation, error) {
	o.Attempts = map[promotion.Target]map[string]int{}
	o.Promotion.Landings = map[promotion.Target][]promotion.Landing{}
	o.Promotion.Reverted = map[promotion.Target][]promotion.Reversion{}
	needs := historyNeeds(o)
	for _, branch := range slices.Sorted(maps.Keys(needs)) {
		need := needs[branch]
		landed, branchErr := h.readLandings(ctx, o, branch, need)
		for _, target := range slices.SortedFunc(maps.Keys(need.targets), promotion.Target.Compare) {
			err := branchErr
			var history targetHistory
			if err == nil {
				history, err = h.readTarget(ctx, o, target, landed[target], need.targets[target])
			}
			if err != nil {
				err = fmt.Errorf("read the history of %s: %w", branch, err)
			}
			if err := o.failures.skipEnvironment(ctx, target.Environment, err); err != nil {
				return o, err
			}
			o.Attempts[target], o.Promotion.Reverted[target] = history.attempts, history.reverted
			if history.landings != nil {
				o.Promotion.Landings[target] = history.landings
			}
			o = o.withChanges(history.changes...)
		}
	}
	return o, nil
}

// historyNeeds returns what is needed by branch. Where nothing differs, it is nothing.
func historyNeeds(o Observation) map[string]*historyNeed {
	needs := map[string]*historyNeed{}
	for target, current := range o.Promotion.Targets {
		if rollsBack(o, target) {
			addNeed(o, needs, target, maxHistory, true)
		}
		parents := o.parentsOf(target)
		for _, parent := range parents {
			from := promotion.Target{Environment: parent.Environment, Application: target.Application}
			if !sameVersions(o, from, target) {
				addNeed(o, needs, target, recentHistory, false)
				addNeed(o, needs, from, max(recentHistory, 2*parent.Soak), true)
			}
		}
		if len(parents) > 0 {
			continue
		}
		for _, reference := range current.References {
			available := o.Promotion.Available[reference.Component]
			if !available.Found || promotion.SameRollout(available.Version, image.Version{Tag: reference.Tag, Digest: reference.Digest}) {
				continue
			}
			back := recentHistory
			if created := available.Version.Created; image.KnownCreated(created) && created.Before(o.Now) {
				back = min(o.Now.Sub(created)+24*time.Hour, maxHistory)
			}
			addNeed(o, needs, target, back, false)
		}
	}
	return needs
}

func addNeed(o Observation, needs map[string]*historyNeed, target promotion.Target, back time.Duration, current bool) {
	branch := o.baseOf(target)
	if o.Heads[branch] == "" {
		return
	}
	need, known := needs[branch]
	if !known {
		need = &historyNeed{since: o.Now, targets: map[promotion.Target]bool{}}
		needs[branch] = need
	}
	if since := o.Now.Add(-back); since.Before(need.since) {
		need.since = since
	}
	need.targets[target] = need.targets[target] || current
}

// rollsBack reports whether a rollback of the target is not carried out yet. Its
// versions must have landed there.
func rollsBack(o Observation, target promotion.Target) bool {
	rollback := o.Promotion.State.At(state.Target(target)).Rollback
	return rollback != nil && slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		wanted, err := image.Parse(rollback.Images[r.Component])
		return err == nil && (wanted.Tag != r.Tag || wanted.Digest != r.Digest)
	})
}

// sameVersions reports whether two targets have the same version of every component of
// the second.
func sameVersions(o Observation, from, target promotion.Target) bool {
	versions := map[string]image.Version{}
	for _, r := range o.Promotion.Targets[from].References {
		versions[r.Component] = image.Version{Tag: r.Tag, Digest: r.Digest}
	}
	return !slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		other, found := versions[r.Component]
		return found && (other.Tag != r.Tag || other.Digest != r.Digest)
	})
}

// readLandings reads the landings on one branch. It fetches more history only when what
// is readable does not reach back far enough.
func (h historyReader) readLandings(ctx context.Context, o Observation, branch string, need *historyNeed) (map[promotion.Target][]promotion.Landing, error) {
	landed, reached, err := h.walk(o, branch, need.targets, need.since)
	if err != nil {
		return nil, err
	}
	for _, since := range []time.Time{need.since, o.Now.Add(-maxHistory)} {
		if reached.IsZero() || !reached.After(since) || since != need.since && foundCurrent(o, need.targets, landed) {
			continue
		}
		if err := h.remote.Deepen(ctx, branch, since); err != nil {
			return nil, fmt.Errorf("deepen it: %w", err)
		}
		if landed, reached, err = h.walk(o, branch, need.targets, since); err != nil {
			return nil, err
		}
	}
	return landed, nil
}

// walk collects the landings in the first-parent history of a branch, newest first, and
// the time to which it is readable; zero: to its beginning, or far enough.
func (h historyReader) walk(o Observation, branch string, targets map[promotion.Target]bool, since time.Time) (map[promotion.Target][]promotion.Landing, time.Time, error) {
	found := map[promotion.Target][]promotion.Landing{}
	n := 0
	for commit, err := range h.objects.History(o.Heads[branch]) {
		if err != nil {
			return nil, time.Time{}, err
		}
		for _, landed := range promotion.ReadTrailers(h.trailersOf(commit)) {
			if _, wanted := targets[landed.Target]; wanted {
				found[landed.Target] = append(found[landed.Target], promotion.Landing{Commit: commit.ID, Snapshot: landed.Snapshot})
			}
		}
		if n++; commit.Shallow {
			return found, commit.Committer.When, nil
		}
		if commit.Committer.When.Before(since) && foundCurrent(o, targets, found) || n == maxCommits {
			break
		}
	}
	return found, time.Time{}, nil
}

// trailersOf reads the trailers of a commit; for a merge, those of the merged commit.
func (h historyReader) trailersOf(commit Commit) []promotion.Trailer {
	if len(promotion.ReadTrailers(commit.Trailers)) > 0 || len(commit.Parents) != 2 {
		return commit.Trailers
	}
	merged, err := h.objects.Commit(commit.Parents[1])
	if err != nil {
		return nil // not readable: then only the forge knows
	}
	return merged.Trailers
}

// foundCurrent reports whether the needed current landings are among those found.
func foundCurrent(o Observation, targets map[promotion.Target]bool, found map[promotion.Target][]promotion.Landing) bool {
	for target, needed := range targets {
		if needed && o.currentIndex(target, found[target]) < 0 {
			return false
		}
	}
	return true
}

// readTarget verifies the landings that were found for a target, and completes
// them with what only the forge knows where the current landing is needed.
func (h historyReader) readTarget(
	ctx context.Context, o Observation, target promotion.Target, found []promotion.Landing, current bool,
) (history targetHistory, err error) {
	if found, err = h.verify(ctx, target, found); err != nil {
		return history, err
	}
	if current {
		if found, err = h.addMerged(ctx, o, target, found); err != nil {
			return history, err
		}
	}
	history.attempts = map[string]int{}
	for _, l := range found {
		history.attempts[l.Snapshot.ID()]++
	}
	history.reverted, err = h.reverted(ctx, o, target, found)
	if err != nil || !current {
		return history, err
	}
	history.landings, history.changes = tenures(o, target, currentFirst(o, target, found))
	if h.repository.Features().Statuses && o.anyChild(target, func(p config.Parent) bool { return len(p.Checks) > 0 }) {
		for i := range history.landings[:min(len(history.landings), maxCheckedLandings)] {
			landing := &history.landings[i]
			if landing.Checks, err = readChecks(ctx, h.repository.Signals(), landing.Commit, o.Statuses); err != nil {
				return history, err
			}
		}
	}
	return history, nil
}

// currentFirst drops landings that repeat the one before, and puts what the files
// contain at the front.
func currentFirst(o Observation, target promotion.Target, found []promotion.Landing) []promotion.Landing {
	var landings []promotion.Landing
	for _, l := range found {
		if n := len(landings); n > 0 && landings[n-1].Snapshot.ID() == l.Snapshot.ID() {
			landings[n-1] = l // the oldest contiguous commit that contains it
			continue
		}
		landings = append(landings, l)
	}
	head, at := o.Heads[o.baseOf(target)], o.currentIndex(target, landings)
	for i := range landings[:max(at, 0)] {
		landings[i].Reverted = true
	}
	switch {
	case at > 0:
		again := landings[at]
		again.Commit, again.At = head, time.Time{}
		landings = slices.Insert(landings, 0, again)
	case at < 0:
		written := promotion.Snapshot{} // as the files have it
		for _, r := range o.Promotion.Targets[target].References {
			if written[r.Component].Version.Digest == "" {
				written[r.Component] = promotion.Pinned{Repository: r.Repository, Version: image.Version{Tag: r.Tag, Digest: r.Digest}}
			}
		}
		landings = slices.Insert(landings, 0, promotion.Landing{Commit: head, Snapshot: written})
	}
	return landings
}

// tenures fills in from when until when each landing was current, as far as there is
// proof. The time of a merge is remembered where a child soaks. A remembered time never
// makes a soak begin before the one that the forge reports.
func tenures(o Observation, target promotion.Target, landings []promotion.Landing) ([]promotion.Landing, []state.Change) {
	var changes []state.Change
	recorded := o.Promotion.State
	for i := range landings {
		l := &landings[i]
		if seen, known := recorded.SeenSince(state.Target(target), l.Snapshot.ID()); known && (i == 0 && seen.After(l.At) || l.At.IsZero()) {
			l.At = seen
		} else if i == 0 && !l.At.IsZero() && o.anyChild(target, soaks) {
			changes = append(changes, state.FirstSeen(state.Target(target), l.Snapshot.ID(), l.At))
			recorded, _ = recorded.Apply(changes...)
		}
		if i > 0 {
			if l.Until = landings[i-1].At; l.Until.IsZero() {
				l.Until = o.Now
			}
		}
	}
	return landings, changes
}

func soaks(p config.Parent) bool { return p.Soak > 0 }
