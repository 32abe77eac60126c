package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// This file turns the verified landings in one target into its history: what only the forge
// knows is added, the current landing comes first, and each gets the time from when until when
// it was current.

// MaxClosed is how many closed pull requests of a branch are read.
const MaxClosed = 5

// targetReader reads the history of one target.
type targetReader struct {
	from   Reader
	o      Observed
	target promotion.Target
}

// targetHistory is what the history of its branch contains about a target.
type targetHistory struct {
	landings []promotion.Landing // newest first, the current one at the front; nil: not needed
	spans    []span              // by index of the landings
	attempts map[string]int      // how often each snapshot landed, by id
	reverted []promotion.Reversion
	restored promotion.Snapshot // what the commit of a rollback had; nil: there is none
	changes  []state.Change     // times to remember
	health   []HealthChange     // states to remember
}

// head returns the head of the target's branch.
func (t targetReader) head() string { return t.o.Heads[t.o.Promotion.BaseOf(t.target)] }

// readAll reads all that is needed about the target, with the checks and the health of its landings.
func (t targetReader) readAll(ctx context.Context, monitored *healthReader, found landings, need targetNeed) (targetHistory, error) {
	history, err := t.read(ctx, found, need)
	if err != nil {
		return history, err
	}
	if err := t.readChecks(ctx, monitored.statuses, history); err != nil {
		return history, err
	}
	if history.health, err = monitored.read(ctx, t, history); err != nil {
		return history, err
	}
	if t.o.rollsBack(t.target) {
		history.restored, err = t.restored(ctx)
	}
	return history, err
}

// read completes the landings that were found with what only the forge knows, where the
// current landing is needed.
func (t targetReader) read(ctx context.Context, found landings, need targetNeed) (targetHistory, error) {
	var history targetHistory
	var w walked
	if need.current {
		var err error
		if w, err = t.walked(ctx, need.since, found); err != nil {
			return history, err
		}
		if found, err = t.addMerged(ctx, found, w); err != nil {
			return history, err
		}
	}
	history.attempts = map[string]int{}
	for _, l := range found.all() {
		history.attempts[l.Snapshot.ID()]++
	}
	var err error
	history.reverted, err = t.reverted(ctx, found.all())
	if err != nil || !need.current {
		return history, err
	}
	deployments, err := t.beforeForms(ctx, t.currentFirst(found.proven(), w))
	if err != nil {
		return history, err
	}
	recorded := t.observed(deployments, w)
	for i := range deployments {
		if recorded.back && deployments[i].period == 0 {
			deployments[i].Earlier = true
		}
	}
	if err := t.brought(ctx, deployments, w, &recorded); err != nil {
		return history, err
	}
	history.landings, history.changes = t.periods(deployments, recorded)
	history.spans = spansOf(deployments, w)
	return history, nil
}

// addMerged adds what only the forge knows about landings. Those of merged pull
// requests get the time of the merge. A landed commit without trailers, such as a
// squash with another message, gets them from the head that was merged.
func (t targetReader) addMerged(ctx context.Context, found landings, w walked) (landings, error) {
	merged, err := t.mergedPullRequests(ctx, found.proven(), w)
	if err != nil || len(merged) == 0 {
		return found, err
	}
	position := map[string]int{} // of commits that are readable, 1: the head
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxCommits) {
		if err != nil {
			return found, err
		}
		position[commit.ID] = len(position) + 1
	}
	var claims []claim // of the pull requests whose landing is not found
	brought := map[string]scm.PullRequest{}
	for _, pr := range merged {
		at := position[pr.Merged.Commit]
		for _, landed := range promotion.ReadTrailers(t.from.Objects.Trailers(pr.Head.Message)) {
			if landed.Target != t.target || at == 0 {
				continue
			}
			// The landing that was the last one when it was merged.
			i := slices.IndexFunc(found.found, func(l landing) bool { return position[l.Commit] >= at })
			if i >= 0 && found.found[i].Snapshot.ID() == landed.Snapshot.ID() {
				if l := &found.found[i]; l.Number == 0 {
					l.mergedBy(pr)
				}
				continue
			}
			claims = append(claims, claim{Landed: landed, commit: pr.Merged.Commit, inherited: true})
			brought[pr.Merged.Commit] = pr
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(position[a.commit], position[b.commit]) })
	verified, err := t.from.prover(t.o).verify(ctx, claims)
	if err != nil {
		return found, err
	}
	for _, l := range verified[t.target].found {
		l.mergedBy(brought[l.Commit])
		found.found = append(found.found, l)
	}
	slices.SortStableFunc(found.found, func(a, b landing) int { return cmp.Compare(position[a.Commit], position[b.Commit]) })
	return found, nil
}

// mergedBy fills in the number and the time of the merge. A landing that only the files of now
// prove may be of another time.
func (l *landing) mergedBy(pr scm.PullRequest) {
	if l.undated {
		return
	}
	l.Number = pr.Number
	l.At = pr.Merged.At
}

// mergedPullRequests asks the forge for the merged pull requests of a target, unless
// the time of its current landing is recorded, or does not matter.
func (t targetReader) mergedPullRequests(ctx context.Context, found []promotion.Landing, w walked) ([]scm.PullRequest, error) {
	settings := t.o.Promotion.Settings(t.target.Environment, t.target.Application)
	if t.o.Promotion.PushOnly || settings.Land == setting.LandPush {
		return nil, nil
	}
	if t.o.currentIndex(t.target, found) >= 0 {
		// The time matters to a child that soaks, or when a version was allowed again.
		if !t.o.anyChild(t.target, soaks) && !t.o.Promotion.State.Unrejects(state.Target(t.target)) {
			return nil, nil
		}
		if _, recorded := t.observed(t.currentFirst(found, w), w).seen[0]; recorded {
			return nil, nil
		}
	}
	heads := []string{promotion.HeadBranch(t.target.Environment, t.target.Application)}
	if settings.PullRequest.Group == setting.GroupEnvironment { // what is urgent has a pull request of its own
		heads = append(heads, promotion.GroupBranch(t.target.Environment))
	}
	branch := t.o.Promotion.BaseOf(t.target) // what was merged elsewhere came here at another time
	var merged []scm.PullRequest
	for _, head := range heads {
		closed, err := t.from.Repository.PullRequests().Closed(ctx, head, MaxClosed)
		if err != nil {
			return nil, fmt.Errorf("list the merged pull requests of %s: %w", head, err)
		}
		merged = append(merged, slices.DeleteFunc(closed, func(pr scm.PullRequest) bool {
			return pr.State != scm.StateMerged || !pr.Head.Own || pr.Base != branch
		})...)
	}
	return merged, nil
}

// written returns the snapshot as the files of a target have it.
func written(files promotion.Current) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, r := range files.References {
		if snapshot[r.Component].Version.Digest == "" {
			snapshot[r.Component] = pinnedAt(r)
		}
	}
	return snapshot
}

// beforeForms adds the snapshot that a user had written before promoter wrote it in another
// form: it is the same one, and may have been seen before.
func (t targetReader) beforeForms(ctx context.Context, landings []deployed) ([]deployed, error) {
	last := -1 // of those that began the current period
	for last+1 < len(landings) && landings[last+1].period == landings[0].period {
		last++
	}
	if last < 0 || len(landings[last].Before) == 0 {
		return landings, nil
	}
	for component, was := range landings[last].Before {
		policy := t.o.Promotion.Policies[component]
		if policy == nil {
			return landings, nil
		}
		if _, moving := policy.Moving(); moving || !promotion.SameRollout(was.Version, landings[last].Snapshot[component].Version) {
			return landings, nil
		}
	}
	landed, err := t.from.Objects.Commit(landings[last].Commit)
	if err != nil || landed.Shallow || len(landed.Parents) == 0 {
		return landings, nil //nolint:nilerr // not readable: then the versions are unknown
	}
	files, err := t.from.Past.At(ctx, t.target, landed.Parents[0])
	if err != nil || len(files.References) == 0 {
		return landings, err
	}
	before := deployed{landings[last].Landing, landings[last].period}
	before.Landing = promotion.Landing{Commit: before.Commit, First: before.First, Snapshot: written(files)}
	if _, seen := t.o.Promotion.State.SeenSince(state.Target(t.target), before.Snapshot.ID()); !seen {
		return landings, nil
	}
	before.Landing.Unclear, landings[last].Landing.Unclear = landings[last].Landing.Unclear, false
	return slices.Insert(landings, last+1, before), nil
}

// periods fills in from when until when each landing was there, as far as there is proof: since it
// was merged or first seen. The time of a merge is remembered where a child soaks.
func (t targetReader) periods(deployments []deployed, recorded times) ([]promotion.Landing, []state.Change) {
	since, exact := recorded.since(deployments)
	var changes []state.Change
	landings := make([]promotion.Landing, len(deployments))
	until := t.o.Now
	for i, d := range deployments {
		proven := !d.At.IsZero() || d.period == 0 && !recorded.pushed.IsZero()
		d.At = since[d.period]
		if _, known := recorded.seen[d.period]; i == 0 && proven && !known && !d.At.IsZero() && t.o.anyChild(t.target, soaks) {
			changes = append(changes, state.FirstSeen(state.Target(t.target), d.Snapshot.ID(), d.First, d.At))
		}
		if i > 0 {
			until = t.endOf(d, deployments[i-1], landings[i-1], until, exact)
			d.Until = until
		}
		landings[i] = d.Landing
	}
	return landings, changes
}

// endOf returns until when a landing at most was there: until what follows it was merged, or was seen. Where that may have
// been long after it came, the time of its commit is an earlier end: any user can set it, but only so that less counts.
func (t targetReader) endOf(d, next deployed, after promotion.Landing, until time.Time, exact map[int]bool) time.Time {
	if !after.At.IsZero() {
		until = after.At
	}
	if exact[next.period] || d.period == next.period {
		return until
	}
	commit, err := t.from.Objects.Commit(after.First)
	if err == nil && commit.Committer.When.Before(until) {
		until = commit.Committer.When
	}
	if until.Before(d.At) {
		until = d.At
	}
	return until
}

func soaks(p setting.Parent) bool { return p.Soak > 0 }
