package promotion

import (
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/health"
	"promoter/internal/image"
)

// tenure is the time for which one snapshot was in a source: consecutive landings
// that are the same rollout to the components of the target. A landing that moved
// only other components does not end it.
type tenure struct {
	versions []image.Version // by index of input.refs; zero: the source has no reference
	since    time.Time       // since when provably; zero: unknown
	until    time.Time       // zero: it is still there
	checks   []Check         // of the newest landing
	past     bool            // another snapshot is there now
	reverted bool            // a user reverted it
	unclear  []Reason        // also by index, why the version is unknown; nil: all are known

	monitored  *config.Health // of the source; nil: it is not
	health     health.State
	healthNote string  // see Landing.HealthNote
	failure    *Reason // why it counts as failed there; nil: it does not
}

// tenures returns the tenures of each source of a target, newest first. Most targets take
// what their sources hold now, so callers request the past only when they need it.
func tenures(in *input, past bool) [][]tenure {
	found := make([][]tenure, len(in.sources))
	for i, source := range in.sources {
		found[i] = tenuresIn(in, source, past)
	}
	return found
}

// tenuresIn returns what a source holds now and, with past, what it held before.
// If the files of the source do not determine a snapshot, that is all.
func tenuresIn(in *input, source Target, past bool) []tenure {
	found := []tenure{currentTenure(in, source)}
	if found[0].unclear != nil {
		return found
	}
	monitored := monitoredBy(in.obs, source)
	found[0].monitored = monitored
	for i, landing := range in.obs.Landings[source] {
		last := &found[len(found)-1]
		if sameSnapshot(in, landing.Snapshot, last.versions) {
			if i == 0 {
				last.checks = landing.Checks
			}
			if !landing.At.IsZero() {
				last.since = landing.At
			}
			last.withHealth(landing)
			if i == 0 && monitored != nil {
				last.failure = failureOf(in.obs, source, landing, *monitored, in.now)
			}
			continue
		}
		if !past {
			break
		}
		versions, complete := versionsOf(in, landing.Snapshot, found[0].versions)
		if !complete {
			break
		}
		found = append(found, tenure{
			versions: versions, since: landing.At, until: landing.Until,
			checks: landing.Checks, reverted: landing.Reverted, past: true, monitored: monitored, failure: recordedFailure(in.obs, source, landing),
		})
		found[len(found)-1].withHealth(landing)
	}
	return found
}

// currentTenure is what the files of a source say now.
func currentTenure(in *input, source Target) tenure {
	current := tenure{versions: make([]image.Version, len(in.refs))}
	for i, ref := range in.refs {
		there, found := in.ix.ref(source, ref.component)
		if !found {
			continue
		}
		var why Reason
		if _, agreed := there.agreed(); !agreed {
			why = disagrees(source.Environment, there)
		} else if there.recorded.Digest == "" && in.ix.moving(there.component) {
			why = digestUnknown(source.Environment, there.component, there.recorded)
		} else {
			current.versions[i] = there.recorded
			continue
		}
		if current.unclear == nil {
			current.unclear = make([]Reason, len(in.refs))
		}
		current.unclear[i] = why
	}
	return current
}

// sameSnapshot reports whether a landed snapshot has the versions, of the
// components that the source refers to.
func sameSnapshot(in *input, landed Snapshot, versions []image.Version) bool {
	for i, ref := range in.refs {
		if isNone(versions[i]) {
			continue
		}
		pinned := landed[ref.component]
		if !SameRollout(pinned.Version, versions[i]) || pinned.Repository != ref.repository {
			return false
		}
	}
	return true
}

// versionsOf returns the versions of a landed snapshot, of the components that the
// source refers to now; false if one is missing or came from another repository.
func versionsOf(in *input, landed Snapshot, current []image.Version) ([]image.Version, bool) {
	versions := make([]image.Version, len(in.refs))
	for i, ref := range in.refs {
		if isNone(current[i]) {
			continue
		}
		pinned, found := landed[ref.component]
		if !found || pinned.Repository != ref.repository {
			return nil, false
		}
		versions[i] = in.obs.Facts.describe(ref.repository, pinned.Version)
	}
	return versions, true
}

// withdrawn returns why a past tenure is no longer promoted from its source: a
// user reverted it, or the source itself went back from it.
func withdrawn(in *input, tenures []tenure, i int) (string, bool) {
	if !tenures[i].past {
		return "", false
	}
	if tenures[i].reverted {
		return "it was reverted there", true
	}
	for c := range in.refs {
		if wentBack(in, tenures, i, c) {
			return "a later change there moved back", true
		}
	}
	return "", false
}

// wentBack reports whether a source moved a component back from a past tenure: a
// later version is older, or had been there before.
func wentBack(in *input, tenures []tenure, i, component int) bool {
	was := tenures[i].versions[component]
	return slices.ContainsFunc(tenures[:i], func(later tenure) bool {
		now := later.versions[component]
		if isNone(was) || isNone(now) || SameRollout(was, now) {
			return false
		}
		return isNewer(was, now, in.obs.Policies[in.refs[component].component]) ||
			slices.ContainsFunc(tenures[i+1:], func(earlier tenure) bool {
				return SameRollout(earlier.versions[component], now)
			})
	})
}

// tenureOf returns the newest tenure of a source that has the moves and the
// versions that the target would have beside them. The latter do not count if a
// user named the moves.
func tenureOf(in *input, source Target, moves []Move) (tenure, bool) {
	named := namedByUser(in, moves)
	holds := func(t tenure) bool {
		for i, ref := range in.refs {
			there := t.versions[i]
			if isNone(there) {
				continue
			}
			if move, moved := MoveOf(moves, ref.component); moved && !SameRollout(move.To, there) {
				return false
			} else if !moved && !named && ref.differs(there, false) {
				return false
			}
		}
		return true
	}
	k := slices.Index(in.sources, source)
	if k < 0 {
		return tenure{}, false
	}
	if latest := in.latest[k][0]; holds(latest) {
		return latest, true
	}
	return find(tenuresIn(in, source, true), holds)
}
