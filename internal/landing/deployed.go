package landing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file puts the landings of a target into the periods of its files, adds what users wrote in between, and finds
// since when each of them was there.

// deployed is a landing with the period of the files that it is part of.
type deployed struct {
	promotion.Landing
	period int // its index; negative: it is older than those that are known
}

// place finds the periods of landings, newest first. A commit that touched no file of the target belongs
// to the period of the landing after it.
func place(found []promotion.Landing, w walked) []deployed {
	placed := make([]deployed, len(found))
	oldest := -1
	for i, l := range found {
		placed[i] = deployed{l, w.of(l.Commit)}
		if placed[i].period >= 0 {
			oldest = i
		}
	}
	at := 0
	for i := range placed[:oldest+1] {
		if placed[i].period < 0 {
			placed[i].period = at
		}
		at = placed[i].period
	}
	return placed
}

// currentFirst drops landings that repeat the one before, puts what the files contain at the
// front, adds what users wrote in between, and marks what was reverted.
func (t targetReader) currentFirst(found []promotion.Landing, w walked) []deployed {
	var landings []deployed
	for _, l := range place(found, w) {
		if n := len(landings); n > 0 && landings[n-1].period == l.period && landings[n-1].Snapshot.ID() == l.Snapshot.ID() {
			landings[n-1] = l // the oldest contiguous commit that contains it
			continue
		}
		landings = append(landings, l)
	}
	at := slices.IndexFunc(landings, func(l deployed) bool { return t.o.isCurrent(t.target, l.Snapshot) })
	for i := range landings[:max(at, 0)] {
		landings[i].Reverted = true
	}
	landings = t.withPeriods(landings, w)
	for i := range landings {
		l := &landings[i]
		l.Reverted = l.Reverted || slices.ContainsFunc(landings[:i], func(later deployed) bool {
			return goesBack(l.Landing, later.Snapshot) || goesBack(l.Landing, later.Before)
		})
		l.Earlier = slices.ContainsFunc(landings[i+1:], func(older deployed) bool {
			return older.period != l.period && sameVersions(l.Snapshot, older.Snapshot)
		})
	}
	return landings
}

// withPeriods adds the periods that no landing began: a user wrote their versions. What is no snapshot only
// ends the one before it.
func (t targetReader) withPeriods(landings []deployed, w walked) []deployed {
	var all []deployed
	for i, s := range w.Periods {
		n := 0
		for n < len(landings) && landings[n].period == i {
			n++
		}
		brought := landings[:n]
		landings = landings[n:]
		switch {
		case n == 0 && i == 0:
			brought = []deployed{{t.current(landings), i}}
		case n == 0 && (s.Unclear || len(s.Commits) == 0):
			continue
		case n == 0:
			brought = []deployed{{byUser(s.snapshot(), s.first(), landings), i}}
		}
		for _, l := range brought {
			l.First = cmp.Or(s.first(), w.Next, l.Commit)
			all = append(all, l)
		}
		all[len(all)-1].Landing.Unclear = !w.begins(i) || i+1 < len(w.Periods) && w.Periods[i+1].Unclear
	}
	for _, l := range landings {
		l.First, l.period = l.Commit, -1-len(all)
		all = append(all, l)
	}
	return all
}

// current returns what the files have now, where no landing brought it.
func (t targetReader) current(older []deployed) promotion.Landing {
	i := slices.IndexFunc(older, func(l deployed) bool { return t.o.isCurrent(t.target, l.Snapshot) })
	if i < 0 { // a user wrote what is there
		return promotion.Landing{Commit: t.head(), Snapshot: written(t.o.Promotion.Targets[t.target]), ByUser: true}
	}
	return again(older[i].Landing, t.head())
}

// byUser returns the versions that a user wrote in a commit. They may have landed before, then their digests are known.
func byUser(snapshot promotion.Snapshot, commit string, older []deployed) promotion.Landing {
	i := slices.IndexFunc(older, func(l deployed) bool { return sameVersions(snapshot, l.Snapshot) })
	if i < 0 {
		return promotion.Landing{Commit: commit, Snapshot: snapshot, ByUser: true}
	}
	return again(older[i].Landing, commit)
}

// again returns a landing that a user brought back in another commit, at an unknown time.
func again(l promotion.Landing, commit string) promotion.Landing {
	return promotion.Landing{Commit: commit, Snapshot: l.Snapshot, Before: l.Before, ByUser: true}
}

// sameVersions reports whether two snapshots have the same versions of the same components.
func sameVersions(a, b promotion.Snapshot) bool {
	if len(a) != len(b) {
		return false
	}
	for component, pinned := range a {
		other, found := b[component]
		if !found || other.Repository != pinned.Repository || !promotion.SameRollout(pinned.Version, other.Version) {
			return false
		}
	}
	return true
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

// times are since when periods were seen, according to what is recorded.
type times struct {
	seen map[int]time.Time // by period
	// pushed is since when the branch has the commit that began the current period, as the forge proves it. It may have come
	// earlier, so it does not show when the period before ended.
	pushed time.Time
	// other is when something else than the current period was last seen.
	other time.Time
	// back is set if the current period was there before something else was seen: the branch was moved back to it.
	back bool
}

// observed finds the periods that recorded times are about. One that names its commit is about the period that has
// the commit. One of an earlier release is about the first period that it can be about. A time does not count for what
// came back to the same commit after something else was seen.
func (t targetReader) observed(deployments []deployed, w walked) times {
	const none = -1 << 30
	found := times{seen: map[int]time.Time{}}
	recorded := t.o.Promotion.State.At(state.Target(t.target)).Seen
	oldest, last := len(deployments)-1, none
	before := false // the current period was seen
	for k, seen := range recorded {
		at := none
		for i := oldest; i >= 0 && at == none; i-- {
			if isAbout(seen, deployments[i], w) {
				at, oldest = deployments[i].period, i
			}
		}
		if at == none && seen.Commit != "" && k == len(recorded)-1 {
			if i, found := t.periodAt(seen.Commit, w); found {
				at = i
			}
		}
		if at != none && at != last {
			found.seen[at] = seen.At
		}
		if last = at; at != 0 {
			found.other = seen.At
			found.back = before
		}
		before = before || at == 0
	}
	if last != 0 { // what is there again is seen again from now on
		delete(found.seen, 0)
	}
	return found
}

// isAbout reports whether a recorded time is about the period of a landing.
func isAbout(seen state.Seen, d deployed, w walked) bool {
	switch {
	case seen.Commit == "":
		return d.Snapshot.ID() == seen.Snapshot
	case d.period >= 0 && slices.Contains(w.Periods[d.period].Commits, seen.Commit):
		return true
	default:
		return d.First == seen.Commit
	}
}

// periodAt returns the period in which a commit is that need not have touched the files.
func (t targetReader) periodAt(commit string, w walked) (int, bool) {
	at := 0
	for c, err := range repo.FirstParents(t.from.Objects, t.head(), maxWalked) {
		switch {
		case err != nil || at == len(w.Periods):
			return 0, false
		case c.ID == commit:
			return at, true
		case c.ID == w.Next:
			return 0, false
		case c.ID == w.Periods[at].first():
			at++
		}
	}
	return 0, false
}

// since returns since when each period provably was there, and of which that is exact: the time of the merge that began it.
func (o times) since(deployments []deployed) (since map[int]time.Time, exact map[int]bool) {
	since, exact = map[int]time.Time{}, map[int]bool{}
	maps.Copy(since, o.seen)
	if _, known := since[0]; !known && !o.pushed.IsZero() && !o.pushed.Before(o.other) {
		since[0] = o.pushed
	}
	for _, d := range deployments {
		if d.At.IsZero() || d.period == 0 && d.At.Before(o.other) { // something else was seen after the merge
			continue
		}
		at, known := since[d.period]
		switch {
		case d.Commit == d.First:
			since[d.period], exact[d.period] = d.At, true
		case !exact[d.period] && (!known || d.At.Before(at)):
			since[d.period] = d.At
		}
	}
	return since, exact
}
