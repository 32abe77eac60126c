package input

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// Tenure is the time for which one snapshot was in a source: consecutive landings
// that are the same rollout to the components of the target. A landing that moved
// only other components does not end it.
type Tenure struct {
	Versions []image.Version    // by index of Target.Refs; zero: the source has no reference
	Since    time.Time          // since when provably; zero: unknown
	Until    time.Time          // zero: it is still there
	Checks   []promotion.Check  // of the newest landing
	Past     bool               // another snapshot is there now
	Reverted bool               // a user reverted it
	Unclear  []promotion.Reason // also by index, why the version is unknown; nil: all are known

	Monitored  *setting.Health // of the source; nil: it is not
	Health     health.State
	HealthNote string            // see Landing.HealthNote
	Failure    *promotion.Reason // why it counts as failed there; nil: it does not
}

// findLatest finds what the sources hold now. Most targets take that, so the past is read only
// when a decision needs it.
func (in *Target) findLatest() {
	in.Latest, in.tenures = make([][]Tenure, len(in.Sources)), make([][]Tenure, len(in.Sources))
	for i, source := range in.Sources {
		in.Latest[i] = in.tenuresIn(source, false)
	}
}

// Tenures returns the tenures of each source of a target, newest first.
func (in *Target) Tenures() [][]Tenure {
	for i := range in.Sources {
		in.TenuresOf(i)
	}
	return in.tenures
}

// TenuresOf returns the tenures of source i, newest first.
func (in *Target) TenuresOf(i int) []Tenure {
	if in.tenures[i] == nil {
		in.tenures[i] = in.tenuresIn(in.Sources[i], true)
	}
	return in.tenures[i]
}

// tenuresIn returns what a source holds now and, with past, what it held before.
// If the files of the source do not determine a snapshot, that is all.
func (in *Target) tenuresIn(source promotion.Target, past bool) []Tenure {
	found := []Tenure{currentTenure(in, source)}
	if found[0].Unclear != nil {
		return found
	}
	monitored := promotion.MonitoredBy(in.Obs, source)
	found[0].Monitored = monitored
	for i, landing := range in.Obs.Landings[source] {
		last := &found[len(found)-1]
		if sameSnapshot(in, landing.Snapshot, last.Versions) {
			if i == 0 {
				last.Checks = landing.Checks
			}
			if !landing.At.IsZero() {
				last.Since = landing.At
			}
			last.withHealth(landing)
			if i == 0 && monitored != nil {
				last.Failure = promotion.FailureOf(in.Obs, source, landing, *monitored, in.Now())
			}
			continue
		}
		if !past {
			break
		}
		versions, complete := versionsOf(in, landing.Snapshot, found[0].Versions)
		if !complete {
			break
		}
		found = append(found, Tenure{
			Versions: versions, Since: landing.At, Until: landing.Until,
			Checks: landing.Checks, Reverted: landing.Reverted, Past: true, Monitored: monitored, Failure: promotion.RecordedFailure(in.Obs, source, landing),
		})
		found[len(found)-1].withHealth(landing)
	}
	return found
}

// currentTenure is what the files of a source say now.
func currentTenure(in *Target, source promotion.Target) Tenure {
	current := Tenure{Versions: make([]image.Version, len(in.Refs))}
	for i, ref := range in.Refs {
		there, found := in.Index.RefOf(source, ref.Component)
		if !found {
			continue
		}
		var why promotion.Reason
		if _, agreed := there.Agreed(); !agreed {
			why = disagrees(source.Environment, there)
		} else if there.Recorded.Digest == "" && in.Index.Moving(there.Component) {
			why = digestUnknown(source.Environment, there.Component, there.Recorded)
		} else {
			current.Versions[i] = there.Recorded
			continue
		}
		if current.Unclear == nil {
			current.Unclear = make([]promotion.Reason, len(in.Refs))
		}
		current.Unclear[i] = why
	}
	return current
}

// sameSnapshot reports whether a landed snapshot has the versions, of the
// components that the source refers to.
func sameSnapshot(in *Target, landed promotion.Snapshot, versions []image.Version) bool {
	for i, ref := range in.Refs {
		if promotion.IsNone(versions[i]) {
			continue
		}
		pinned := landed[ref.Component]
		if !promotion.SameRollout(pinned.Version, versions[i]) || pinned.Repository != ref.Repository {
			return false
		}
	}
	return true
}

// versionsOf returns the versions of a landed snapshot, of the components that the
// source refers to now; false if one is missing or came from another repository.
func versionsOf(in *Target, landed promotion.Snapshot, current []image.Version) ([]image.Version, bool) {
	versions := make([]image.Version, len(in.Refs))
	for i, ref := range in.Refs {
		if promotion.IsNone(current[i]) {
			continue
		}
		pinned, found := landed[ref.Component]
		if !found || pinned.Repository != ref.Repository {
			return nil, false
		}
		versions[i] = in.Obs.Facts.Describe(ref.Repository, pinned.Version)
	}
	return versions, true
}

// Withdrawn returns why a past tenure is no longer promoted from its source: a
// user reverted it, or the source itself went back from it.
func (in *Target) Withdrawn(tenures []Tenure, i int) (string, bool) {
	if !tenures[i].Past {
		return "", false
	}
	if tenures[i].Reverted {
		return "it was reverted there", true
	}
	for c := range in.Refs {
		if wentBack(in, tenures, i, c) {
			return "a later change there moved back", true
		}
	}
	return "", false
}

// wentBack reports whether a source moved a component back from a past tenure: a
// later version is older, or had been there before.
func wentBack(in *Target, tenures []Tenure, i, component int) bool {
	was := tenures[i].Versions[component]
	return slices.ContainsFunc(tenures[:i], func(later Tenure) bool {
		now := later.Versions[component]
		if promotion.IsNone(was) || promotion.IsNone(now) || promotion.SameRollout(was, now) {
			return false
		}
		return IsNewer(was, now, in.Obs.Policies[in.Refs[component].Component]) ||
			slices.ContainsFunc(tenures[i+1:], func(earlier Tenure) bool {
				return promotion.SameRollout(earlier.Versions[component], now)
			})
	})
}

// TenureOf returns the newest tenure of a source that has the moves and the
// versions that the target would have beside them; nil: none had. The latter do not count
// if a user named the moves.
func (in *Target) TenureOf(source promotion.Target, moves []promotion.Move) *Tenure {
	named := namedByUser(in, moves)
	holds := func(t *Tenure) bool {
		for i, ref := range in.Refs {
			there := t.Versions[i]
			if promotion.IsNone(there) {
				continue
			}
			if move, moved := promotion.MoveOf(moves, ref.Component); moved && !promotion.SameRollout(move.To, there) {
				return false
			} else if !moved && !named && ref.Differs(there, false) {
				return false
			}
		}
		return true
	}
	k := slices.Index(in.Sources, source)
	if k < 0 {
		return nil
	}
	if latest := &in.Latest[k][0]; holds(latest) {
		return latest
	}
	tenures := in.TenuresOf(k)
	for i := range tenures {
		if holds(&tenures[i]) {
			return &tenures[i]
		}
	}
	return nil
}

// withHealth adds the health of a landing to the tenure that it belongs to, from the newest to
// the oldest. What is reported about a newer one takes precedence.
func (t *Tenure) withHealth(l promotion.Landing) {
	switch was := t.Health; {
	case !was.IsReported():
		t.Health = l.Health
	case !was.HealthySince.IsZero() && !l.Health.HealthySince.IsZero():
		t.Health.HealthySince = l.Health.HealthySince
	}
	if t.HealthNote == "" {
		t.HealthNote = l.HealthNote
	}
}

func disagrees(environment string, ref Ref) promotion.Reason {
	labels := make([]string, 0, len(ref.Versions))
	for _, v := range ref.Versions {
		labels = append(labels, promotion.Label(v))
	}
	slices.Sort(labels)
	return promotion.Reason{Rule: promotion.RuleParentsDiffer, Message: fmt.Sprintf("%s has several versions of %s: %q",
		environment, ref.Component, slices.Compact(labels))}
}

func digestUnknown(environment, component string, v image.Version) promotion.Reason {
	return promotion.Reason{Rule: promotion.RuleDigestUnknown, Message: fmt.Sprintf("digest unknown: %s references %s by the moving tag %s without a digest",
		environment, component, v.Tag)}
}
