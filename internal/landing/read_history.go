// Package landing reads from the history of branches what landed in which target, and when.
// Any user can write the trailers that name a landing, so they are claims: the files of a
// commit, compared with those of its parent, prove them. From the same comparison it
// recognizes the commits that promoter wrote.
package landing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
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
	// MaxClosed is how many closed pull requests of a branch are read.
	MaxClosed = 5
	// maxCheckedLandings is how many landings of a target get their checks.
	maxCheckedLandings = 3
)

// historyNeed is what the plan needs from the history of one branch.
type historyNeed struct {
	since   time.Time
	targets map[promotion.Target]targetNeed // those to read about
}

// targetNeed is what the plan needs from the history of one target. What is read of it does not
// depend on other targets of the branch, although their history may be read further back.
type targetNeed struct {
	since   time.Time
	current bool // the landing of the current snapshot is needed too, however old it is
}

// targetHistory is what the history of its branch contains about a target.
type targetHistory struct {
	landings []promotion.Landing // newest first, the current one at the front; nil: not needed
	attempts map[string]int      // how often each snapshot landed, by id
	reverted []promotion.Reversion
	changes  []state.Change // times to remember
}

// Reader reads what landed in targets.
type Reader struct {
	Remote     repo.Remote
	Objects    repo.Objects
	Repository scm.Repository
	By         repo.Signature // of our commits
	Past       *PastFiles
	Memory     Memory
	States     States // nil: the health of landed commits is only on the forge
	// Assumed returns the health that is assumed for what is in a target, whatever sources
	// reported. Nil: none is.
	Assumed func(promotion.Target) (health.Status, bool)
	Log     *slog.Logger
}

// History is what landed where, for the targets in which something would change, and for
// those that it would come from.
type History struct {
	Landings  map[promotion.Target][]promotion.Landing
	Reverted  map[promotion.Target][]promotion.Reversion
	Falsified map[promotion.Target][]promotion.Reason // false claims
	Attempts  map[promotion.Target]map[string]int     // how often each snapshot landed before, by id
	Restored  map[promotion.Target]promotion.Snapshot // what the commit of a rollback had
	Changes   []state.Change                          // times to remember
	Health    []HealthChange                          // states to remember
}

// Read reads from the branches what landed. An environment that cannot be read is a failure.
func (h Reader) Read(ctx context.Context, o Observed, failures *repo.Collector) (History, error) {
	all := History{
		Landings: map[promotion.Target][]promotion.Landing{}, Reverted: map[promotion.Target][]promotion.Reversion{},
		Falsified: map[promotion.Target][]promotion.Reason{}, Attempts: map[promotion.Target]map[string]int{},
		Restored: map[promotion.Target]promotion.Snapshot{},
	}
	monitored := newHealthReader(h)
	defer monitored.close()
	needs := historyNeeds(o)
	for _, branch := range slices.Sorted(maps.Keys(needs)) {
		need := needs[branch]
		landed, branchErr := h.readLandings(ctx, o, branch, need)
		for _, target := range slices.SortedFunc(maps.Keys(need.targets), promotion.Target.Compare) {
			err := branchErr
			var history targetHistory
			if err == nil {
				history, err = h.readTarget(ctx, o, target, landed[target], need.targets[target].current)
			}
			if err == nil {
				var changed []HealthChange
				changed, err = monitored.read(ctx, o, target, history.landings)
				all.Health = append(all.Health, changed...)
			}
			if err == nil && rollsBack(o, target) {
				all.Restored[target], err = h.restored(ctx, o, target)
			}
			if err != nil {
				err = fmt.Errorf("read the history of %s: %w", branch, err)
			}
			if err := failures.SkipEnvironment(ctx, target.Environment, err); err != nil {
				return all, err
			}
			all.Attempts[target], all.Reverted[target] = history.attempts, history.reverted
			all.Falsified[target] = landed[target].falsified
			if history.landings != nil {
				all.Landings[target] = history.landings
			}
			all.Changes = append(all.Changes, history.changes...)
		}
	}
	return all, nil
}

// historyNeeds returns what is needed by branch. Where nothing differs, it is nothing.
func historyNeeds(o Observed) map[string]*historyNeed {
	needs := map[string]*historyNeed{}
	for target, current := range o.Promotion.Selected() {
		if rollsBack(o, target) {
			addNeed(o, needs, target, maxHistory, true)
		}
		asked := o.Asked != nil && o.Asked(target)
		if asked || o.Promotion.Config.Settings(target.Environment, target.Application).Health != nil {
			addNeed(o, needs, target, recentHistory, true)
		}
		parents := o.Promotion.ParentsOf(target)
		for _, parent := range parents {
			from := promotion.Target{Environment: parent.Environment, Application: target.Application}
			if !sameVersions(o, from, target) || current.RewritesForm() {
				addNeed(o, needs, target, recentHistory, false)
				addNeed(o, needs, from, max(recentHistory, 2*parent.Soak), true)
			}
		}
		if len(parents) > 0 {
			continue
		}
		if request := o.Promotion.State.At(state.Target(target)).Request; request != nil && request.Posted != "" {
			addNeed(o, needs, target, recentHistory, true) // it must not bring back what was there
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

func addNeed(o Observed, needs map[string]*historyNeed, target promotion.Target, back time.Duration, current bool) {
	branch := o.Promotion.BaseOf(target)
	if o.Heads[branch] == "" {
		return
	}
	need, known := needs[branch]
	if !known {
		need = &historyNeed{since: o.Now, targets: map[promotion.Target]targetNeed{}}
		needs[branch] = need
	}
	of, known := need.targets[target]
	if since := o.Now.Add(-back); !known || since.Before(of.since) {
		of.since = since
	}
	of.current = of.current || current
	need.targets[target] = of
	if of.since.Before(need.since) {
		need.since = of.since
	}
}

// rollsBack reports whether a rollback of the target is not carried out yet. Its
// versions must have landed there.
func rollsBack(o Observed, target promotion.Target) bool {
	rollback := o.Promotion.State.At(state.Target(target)).Rollback
	return rollback != nil && slices.ContainsFunc(o.Promotion.Targets[target].References, func(r edit.Reference) bool {
		wanted, err := image.Parse(rollback.Images[r.Component])
		return err == nil && (wanted.Tag != r.Tag || wanted.Digest != r.Digest)
	})
}

// sameVersions reports whether two targets have the same version of every component of
// the second.
func sameVersions(o Observed, from, target promotion.Target) bool {
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
func (h Reader) readLandings(ctx context.Context, o Observed, branch string, need *historyNeed) (map[promotion.Target]landings, error) {
	read, err := h.walk(o, branch, need.targets, need.since)
	if err != nil {
		return nil, err
	}
	for _, since := range []time.Time{need.since, o.Now.Add(-maxHistory)} {
		if read.reached.IsZero() || !read.reached.After(since) || since != need.since && read.current {
			continue
		}
		if err := h.Remote.Deepen(ctx, branch, since); err != nil {
			return nil, fmt.Errorf("deepen it: %w", err)
		}
		if read, err = h.walk(o, branch, need.targets, since); err != nil {
			return nil, err
		}
	}
	return h.verify(ctx, o, read.claims)
}

// walked is what the first-parent history of a branch claims about targets.
type walked struct {
	claims  []claim   // newest first
	current bool      // the needed current landings are among them
	reached time.Time // to which it is readable; zero: to its beginning, or far enough
}

func (h Reader) walk(o Observed, branch string, targets map[promotion.Target]targetNeed, since time.Time) (walked, error) {
	var w walked
	missing := map[promotion.Target]bool{}
	for target, need := range targets {
		if need.current {
			missing[target] = true
		}
	}
	n, oldest := 0, o.Now // of the commits until now
	for commit, err := range h.Objects.History(o.Heads[branch]) {
		if err != nil {
			return w, err
		}
		for _, c := range claimsOf(h.Objects, commit) {
			need, wanted := targets[c.Target]
			if wanted && (missing[c.Target] || !oldest.Before(need.since)) {
				w.claims = append(w.claims, c)
				if missing[c.Target] && o.isCurrent(c.Target, c.Snapshot) {
					delete(missing, c.Target)
				}
			}
		}
		if commit.Committer.When.Before(oldest) {
			oldest = commit.Committer.When
		}
		w.current = len(missing) == 0
		if n++; commit.Shallow {
			w.reached = commit.Committer.When
			break
		}
		if commit.Committer.When.Before(since) && w.current || n == maxCommits {
			break
		}
	}
	return w, nil
}

// Claimed returns the targets that the trailers of new commits name, back to a known commit. It
// returns false if that is not among so many commits: the branch was moved back, say.
func (h Reader) Claimed(head, known string, most int) ([]promotion.Target, bool) {
	var claimed []promotion.Target
	if head == known {
		return nil, true
	}
	n := 0
	for commit, err := range h.Objects.History(head) {
		if err != nil || n == most {
			return nil, false
		}
		if commit.ID == known {
			return claimed, true
		}
		for _, c := range claimsOf(h.Objects, commit) {
			claimed = append(claimed, c.Target)
		}
		n++
	}
	return nil, false
}

// claimsOf reads the trailers of a commit; for a merge, those of the merged commit.
func claimsOf(objects repo.Objects, commit repo.Commit) []claim {
	landed, inherited := promotion.ReadTrailers(commit.Trailers), false
	if len(landed) == 0 && len(commit.Parents) == 2 {
		merged, err := objects.Commit(commit.Parents[1])
		if err != nil {
			return nil // not readable: then only the forge knows
		}
		landed, inherited = promotion.ReadTrailers(merged.Trailers), true
	}
	claims := make([]claim, len(landed))
	for i := range landed {
		claims[i] = claim{Landed: landed[i], commit: commit.ID, inherited: inherited}
	}
	return claims
}

// readTarget completes the landings that were found for a target with what only the forge
// knows, where the current landing is needed.
func (h Reader) readTarget(
	ctx context.Context, o Observed, target promotion.Target, found landings, current bool,
) (history targetHistory, err error) {
	if current {
		if found, err = h.addMerged(ctx, o, target, found); err != nil {
			return history, err
		}
	}
	history.attempts = map[string]int{}
	for _, l := range found.all() {
		history.attempts[l.Snapshot.ID()]++
	}
	history.reverted, err = h.reverted(ctx, o, target, found.all())
	if err != nil || !current {
		return history, err
	}
	landings, err := h.beforeForms(ctx, o, target, currentFirst(o, target, found.proven()))
	if err != nil {
		return history, err
	}
	history.landings, history.changes = tenures(o, target, landings)
	if h.Repository.Features().Statuses && o.anyChild(target, func(p setting.Parent) bool { return len(p.Checks) > 0 }) {
		for i := range history.landings[:min(len(history.landings), maxCheckedLandings)] {
			landing := &history.landings[i]
			if landing.Checks, err = repo.ReadChecks(ctx, h.Repository.Signals(), landing.Commit, o.Statuses); err != nil {
				return history, err
			}
		}
	}
	return history, nil
}

// addMerged adds what only the forge knows about landings. Those of merged pull
// requests get the time of the merge. A landed commit without trailers, such as a
// squash with another message, gets them from the head that was merged.
func (h Reader) addMerged(ctx context.Context, o Observed, target promotion.Target, found landings) (landings, error) {
	merged, err := mergedPullRequests(ctx, h.Repository, o, target, found.proven())
	if err != nil || len(merged) == 0 {
		return found, err
	}
	position := map[string]int{} // of commits that are readable, 1: the head
	for commit, err := range h.Objects.History(o.Heads[o.Promotion.BaseOf(target)]) {
		if err != nil {
			return found, err
		}
		if position[commit.ID] = len(position) + 1; len(position) == maxCommits {
			break
		}
	}
	var claims []claim // of the pull requests whose landing is not found
	brought := map[string]scm.PullRequest{}
	for _, pr := range merged {
		at := position[pr.Merged.Commit]
		for _, landed := range promotion.ReadTrailers(h.Objects.Trailers(pr.Head.Message)) {
			if landed.Target != target || at == 0 {
				continue
			}
			// The landing that was the last one when it was merged.
			i := slices.IndexFunc(found.found, func(l landing) bool { return position[l.Commit] >= at })
			if i >= 0 && found.found[i].Snapshot.ID() == landed.Snapshot.ID() {
				if l := &found.found[i]; l.Number == 0 && !l.undated {
					l.Number, l.At = pr.Number, pr.Merged.At
				}
				continue
			}
			claims = append(claims, claim{Landed: landed, commit: pr.Merged.Commit, inherited: true})
			brought[pr.Merged.Commit] = pr
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(position[a.commit], position[b.commit]) })
	verified, err := h.verify(ctx, o, claims)
	if err != nil {
		return found, err
	}
	for _, l := range verified[target].found {
		if pr := brought[l.Commit]; !l.undated {
			l.Number, l.At = pr.Number, pr.Merged.At
		}
		found.found = append(found.found, l)
	}
	slices.SortStableFunc(found.found, func(a, b landing) int { return cmp.Compare(position[a.Commit], position[b.Commit]) })
	return found, nil
}

// mergedPullRequests asks the forge for the merged pull requests of a target, unless
// the time of its current landing is recorded, or does not matter.
func mergedPullRequests(ctx context.Context, repository scm.Repository, o Observed, target promotion.Target, found []promotion.Landing) ([]scm.PullRequest, error) {
	settings := o.Promotion.Settings(target.Environment, target.Application)
	if o.Promotion.PushOnly || settings.Land == setting.LandPush {
		return nil, nil
	}
	if i := o.currentIndex(target, found); i >= 0 {
		_, recorded := o.Promotion.State.SeenSince(state.Target(target), found[i].Snapshot.ID())
		// The time matters to a child that soaks, or when the target was resumed.
		matters := o.anyChild(target, soaks) || !o.Promotion.State.ResumedAt(state.Target(target)).IsZero()
		if recorded || !matters {
			return nil, nil
		}
	}
	head := promotion.HeadBranch(target.Environment, target.Application)
	if settings.PullRequest.Group == setting.GroupEnvironment {
		head = promotion.GroupBranch(target.Environment)
	}
	closed, err := repository.PullRequests().Closed(ctx, head, MaxClosed)
	if err != nil {
		return nil, fmt.Errorf("list the merged pull requests of %s: %w", head, err)
	}
	return slices.DeleteFunc(closed, func(pr scm.PullRequest) bool { return pr.State != scm.StateMerged || !pr.Head.Own }), nil
}

// currentFirst drops landings that repeat the one before, puts what the files contain at the
// front, and marks what was reverted.
func currentFirst(o Observed, target promotion.Target, found []promotion.Landing) []promotion.Landing {
	var landings []promotion.Landing
	for _, l := range found {
		if n := len(landings); n > 0 && landings[n-1].Snapshot.ID() == l.Snapshot.ID() {
			landings[n-1] = l // the oldest contiguous commit that contains it
			continue
		}
		landings = append(landings, l)
	}
	head, at := o.Heads[o.Promotion.BaseOf(target)], o.currentIndex(target, landings)
	for i := range landings[:max(at, 0)] {
		landings[i].Reverted = true
	}
	switch {
	case at > 0:
		again := landings[at]
		again.Commit, again.At = head, time.Time{}
		landings = slices.Insert(landings, 0, again)
	case at < 0:
		landings = slices.Insert(landings, 0, promotion.Landing{Commit: head, Snapshot: written(o.Promotion.Targets[target])})
	}
	for i := range landings {
		landings[i].Reverted = landings[i].Reverted || slices.ContainsFunc(landings[:i], func(later promotion.Landing) bool {
			return goesBack(landings[i], later.Snapshot) || goesBack(landings[i], later.Before)
		})
	}
	return landings
}

// written returns the snapshot as the files of a target have it.
func written(files promotion.Current) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, r := range files.References {
		if snapshot[r.Component].Version.Digest == "" {
			snapshot[r.Component] = promotion.Pinned{Repository: r.Repository, Version: image.Version{Tag: r.Tag, Digest: r.Digest}}
		}
	}
	return snapshot
}

// beforeForms adds the snapshot that a user had written before promoter wrote it in another
// form: it is the same one, and may have been seen before.
func (h Reader) beforeForms(ctx context.Context, o Observed, target promotion.Target, landings []promotion.Landing) ([]promotion.Landing, error) {
	last := len(landings) - 1
	if last < 0 || len(landings[last].Before) == 0 {
		return landings, nil
	}
	for component, was := range landings[last].Before {
		policy := o.Promotion.Policies[component]
		if policy == nil {
			return landings, nil
		}
		if _, moving := policy.Moving(); moving || !promotion.SameRollout(was.Version, landings[last].Snapshot[component].Version) {
			return landings, nil
		}
	}
	files, err := h.before(ctx, target, landings[last].Commit)
	if err != nil || len(files.References) == 0 {
		return landings, err
	}
	before := promotion.Landing{Commit: landings[last].Commit, Snapshot: written(files)}
	if _, seen := o.Promotion.State.SeenSince(state.Target(target), before.Snapshot.ID()); !seen {
		return landings, nil
	}
	return append(landings, before), nil
}

// goesBack reports whether a later snapshot has what a landing replaced, whatever is the name
// of the user who brought it. A revert may also be seen in what the next landing replaced.
func goesBack(landed promotion.Landing, later promotion.Snapshot) bool {
	for component, was := range landed.Before {
		now := later[component].Version
		if promotion.SameRollout(now, was.Version) && !promotion.SameRollout(now, landed.Snapshot[component].Version) {
			return true
		}
	}
	return false
}

// tenures fills in from when until when each landing was current, as far as there is
// proof. The time of a merge is remembered where a child soaks. A remembered time never
// makes a soak begin before the one that the forge reports.
func tenures(o Observed, target promotion.Target, landings []promotion.Landing) ([]promotion.Landing, []state.Change) {
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

func soaks(p setting.Parent) bool { return p.Soak > 0 }
