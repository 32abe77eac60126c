package input

import (
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Period is the time for which one snapshot was in a source without interruption, also if a user
// wrote it: consecutive landings that are the same rollout to the components of the target. A
// landing that moved only other components does not end it, and neither does another form.
type Period struct {
	Versions []image.Version    // by index of Target.Refs; zero: the source has no reference
	Since    time.Time          // since when provably; zero: unknown
	Until    time.Time          // zero: it is still there
	Past     bool               // another snapshot is there now
	Reverted bool               // a user reverted it
	ByUser   bool               // a user wrote it
	Again    bool               // it was there before, and others in between
	End      End                // what ended it
	Unclear  []promotion.Reason // also by index, why the version is unknown; nil: all are known

	Monitored *setting.Health // of the source; nil: it is not

	// What is reported about it may change at any time: see Checks, Reported, and Failure.
	source     promotion.Target
	newest     *promotion.Landing  // of the time that it was there; nil: the history has none
	landings   []promotion.Landing // of the time that it was there, the newest first
	health     health.State
	healthNote string
	begun      bool  // nothing older continues it
	oldest     []int // by index of Target.Refs, see oldestWith
}

// Checks returns the statuses of the landings of a period, the newest first.
func Checks(in Target, t *Period) []promotion.Check {
	in.reads(Forge)
	var checks []promotion.Check
	for _, landing := range t.landings {
		checks = append(checks, landing.Checks...)
	}
	return checks
}

// Reported returns the health of a period, and the note about a report that does not count, see
// promotion.Landing.
func Reported(in Target, t *Period) (health.State, string) {
	in.reads(Health)
	return t.health, t.healthNote
}

// Unsealed returns since when a period is there according to a recorded time that does not count because it has no seal;
// false: there is none.
func Unsealed(in Target, t *Period) (time.Time, bool) {
	in.reads(UserDecisions)
	if t.newest == nil || t.Past {
		return time.Time{}, false
	}
	return in.obs.State.Unsealed(state.Target(t.source), t.newest.Snapshot.ID(), t.newest.First)
}

// Failure returns why a period counts as failed in its source; nil: it does not. What another
// snapshot replaced fails only by what is recorded: nothing reports about it any more.
func Failure(in Target, t *Period) *promotion.Reason {
	in.reads(Health | Time | UserDecisions)
	switch {
	case t.newest == nil:
		return nil
	case t.Past:
		return promotion.RecordedFailure(in.obs, t.source, *t.newest)
	case t.Monitored == nil:
		return nil
	default:
		return promotion.FailureOf(in.obs, t.source, *t.newest, *t.Monitored, in.now)
	}
}

// Own returns what the history proves to be in the target now, to read what is reported about
// it; false if it proves nothing, or the target is not monitored.
func Own(in Target) (Period, bool) {
	monitored := promotion.MonitoredBy(in.obs, in.Target)
	landings := in.obs.Landings[in.Target]
	if monitored == nil || len(landings) == 0 {
		return Period{Monitored: monitored}, false
	}
	own := Period{Monitored: monitored, source: in.Target, newest: &landings[0]}
	own.withHealth(landings[0])
	return own, true
}

// findLatest finds what the sources hold now. Most targets take that, so the past is read only
// when a decision needs it.
func findLatest(in Target) {
	in.latest = make([][]Period, len(in.Sources))
	in.periods = make([][]Period, len(in.Sources))
	for i, source := range in.Sources {
		in.latest[i] = periodsIn(in, source, false)
	}
}

// Latest returns what each source of a target has now, as its only period.
func Latest(in Target) [][]Period { return in.latest }

// Periods returns the periods of each source of a target, newest first.
func Periods(in Target) [][]Period {
	for i := range in.Sources {
		PeriodsOf(in, i)
	}
	return in.periods
}

// PeriodsOf returns the periods of source i, newest first.
func PeriodsOf(in Target, i int) []Period {
	if in.periods[i] == nil {
		in.periods[i] = periodsIn(in, in.Sources[i], true)
	}
	return in.periods[i]
}

// periodsIn returns what a source holds now and, with past, what it held before.
// If the files of the source do not determine a snapshot, that is all: what landed before
// cannot be compared with it.
func periodsIn(in Target, source promotion.Target, past bool) []Period {
	in = in.For(rows[ofSources])
	found := []Period{currentPeriod(in, source)}
	if found[0].Unclear != nil {
		return found
	}
	found[0].Monitored = promotion.MonitoredBy(in.obs, source)
	landings := in.obs.Landings[source]
	for i := range landings {
		if !in.Spend(1 + len(in.Refs)) {
			break
		}
		landing, last := &landings[i], &found[len(found)-1]
		if i == 0 && sameSnapshot(in, landing.Snapshot, last.Versions) {
			last.newest = landing
		}
		if last.continues(in, landing) {
			last.add(landings, i)
			continue
		}
		if !past {
			break
		}
		// Further back, the source referred to other components or repositories: that snapshot
		// cannot be promoted to what the target has now.
		versions, complete := versionsOf(in, landing.Snapshot, found[0].Versions)
		if !complete {
			break
		}
		before := Period{
			Versions: versions, Until: landing.Until,
			Past: true, Reverted: landing.Reverted, ByUser: landing.ByUser,
			Monitored: found[0].Monitored, source: source, newest: landing,
		}
		before.End = endOf(in, before, last)
		before.add(landings, i)
		found = append(found, before)
	}
	return found
}

// continues reports whether a period goes on with an older landing: of the same versions, in another form or of other
// components, without others in between.
func (t *Period) continues(in Target, older *promotion.Landing) bool {
	return !t.begun && sameSnapshot(in, older.Snapshot, t.Versions)
}

// add adds an older landing to the period that it continues, of all landings of the source.
func (t *Period) add(all []promotion.Landing, i int) {
	l := &all[i]
	t.landings = all[i-len(t.landings) : i+1]
	if !l.At.IsZero() {
		t.Since = l.At
	}
	t.begun = l.Unclear
	t.Again = l.Earlier
	t.withHealth(*l)
}

// End is what ended a period.
type End string

// The ends.
const (
	EndNone     End = ""         // it is there now
	EndNewer    End = "newer"    // another snapshot replaced it
	EndRollback End = "rollback" // promoter returned to earlier versions, for a user
	EndFailure  End = "failure"  // the same, because it failed
	EndRevert   End = "revert"   // a user reverted it, or wrote earlier versions
)

// endOf returns what ended a period, by what was there after it.
func endOf(in Target, t Period, next *Period) End {
	back := false
	for i, ref := range in.Refs {
		back = back || IsNewer(t.Versions[i], next.Versions[i], in.Policies[ref.Component])
	}
	byUser := next.newest == nil || next.newest.ByUser
	switch {
	case back && byUser, t.Reverted && (byUser || !back):
		return EndRevert
	case back && promotion.RecordedFailure(in.obs, t.source, *t.newest) != nil:
		return EndFailure
	case back:
		return EndRollback
	default:
		return EndNewer
	}
}

// currentPeriod is what the files of a source say now.
func currentPeriod(in Target, source promotion.Target) Period {
	current := Period{Versions: make([]image.Version, len(in.Refs)), source: source}
	others := in.Others()
	for i, ref := range in.Refs {
		there, found := others.Ref(source, ref.Component)
		if !found {
			continue
		}
		why := unclear(in, source, there)
		if why.Message == "" {
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

// unclear returns why the files of a source do not show which version of a component it has;
// without a message if they do.
func unclear(in Target, source promotion.Target, there Ref) promotion.Reason {
	if _, agreed := there.Agreed(); !agreed {
		return disagrees(source.Environment, there)
	}
	if there.Recorded.Digest == "" && in.Moving(there.Component) {
		return digestUnknown(source.Environment, there.Component, there.Recorded)
	}
	return promotion.Reason{}
}

// sameSnapshot reports whether a landed snapshot has the versions, of the
// components that the source refers to.
func sameSnapshot(in Target, landed promotion.Snapshot, versions []image.Version) bool {
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
func versionsOf(in Target, landed promotion.Snapshot, current []image.Version) ([]image.Version, bool) {
	versions := make([]image.Version, len(in.Refs))
	for i, ref := range in.Refs {
		if promotion.IsNone(current[i]) {
			continue
		}
		pinned := landed[ref.Component]
		if pinned.Repository != ref.Repository { // or it is missing
			return nil, false
		}
		versions[i] = in.obs.Facts.Describe(ref.Repository, pinned.Version)
	}
	return versions, true
}

// Withdrawn returns why a past period is no longer promoted from its source: a
// user reverted it, or the source itself went back from it.
func Withdrawn(in Target, periods []Period, i int) (string, bool) {
	if !periods[i].Past {
		return "", false
	}
	if periods[i].Reverted {
		return "it was reverted there", true
	}
	if periods[i].ByUser {
		return "a user wrote it there, and another one replaced it", true
	}
	for c := range in.Refs {
		if wentBack(in, periods, i, c) {
			return "a later change there moved back", true
		}
	}
	return "", false
}

// wentBack reports whether a source moved a component back from a past period: a
// later version is older, or had been there before.
func wentBack(in Target, periods []Period, i, component int) bool {
	was := periods[i].Versions[component]
	for j := range periods[:i] {
		if !in.Spend(1) {
			return false
		}
		now := periods[j].Versions[component]
		if promotion.SameRollout(was, now) {
			continue
		}
		if oldestWith(in, periods, j, component) > i || IsNewer(was, now, in.Policies[in.Refs[component].Component]) {
			return true
		}
	}
	return false
}

// oldestWith returns the index of the oldest period with the version of a component that period i has. It is looked
// for once: each past period is compared with all later ones.
func oldestWith(in Target, periods []Period, i, component int) int {
	t := &periods[i]
	if t.oldest == nil {
		t.oldest = make([]int, len(in.Refs))
		for c := range in.Refs {
			if !in.Spend(len(periods)) {
				return i
			}
			t.oldest[c] = len(periods) - 1
			for t.oldest[c] > i && !promotion.SameRollout(periods[t.oldest[c]].Versions[c], t.Versions[c]) {
				t.oldest[c]--
			}
		}
	}
	return t.oldest[component]
}

// PeriodOf returns the newest period of a source that has the moves and the
// versions that the target would have beside them; nil: none had. The latter do not count
// if a user named the moves.
func PeriodOf(in Target, source promotion.Target, moves []promotion.Move) *Period {
	named := namedByUser(in, moves)
	holds := func(t *Period) bool {
		if !in.Spend(1 + len(in.Refs)) {
			return false
		}
		for i, ref := range in.Refs {
			there := t.Versions[i]
			if promotion.IsNone(there) {
				continue
			}
			move, moved := promotion.MoveOf(moves, ref.Component)
			if moved && !promotion.SameRollout(move.To, there) {
				return false
			}
			if !moved && !named && ref.Differs(there, false) {
				return false
			}
		}
		return true
	}
	k := slices.Index(in.Sources, source)
	if k < 0 {
		return nil
	}
	if latest := &Latest(in)[k][0]; holds(latest) {
		return latest
	}
	periods := PeriodsOf(in, k)
	for i := range periods {
		if holds(&periods[i]) {
			return &periods[i]
		}
	}
	return nil
}

// withHealth adds the health of a landing to the period that it belongs to, from the newest to
// the oldest. What is reported about a newer one takes precedence.
func (t *Period) withHealth(l promotion.Landing) {
	switch {
	case !t.health.IsReported():
		t.health = l.Health
	case !t.health.HealthySince.IsZero() && !l.Health.HealthySince.IsZero():
		t.health.HealthySince = l.Health.HealthySince
	}
	if t.healthNote == "" {
		t.healthNote = l.HealthNote
	}
}

func disagrees(environment string, ref Ref) promotion.Reason {
	labels := make([]string, 0, len(ref.Versions))
	for _, v := range ref.Versions {
		labels = append(labels, promotion.Label(v))
	}
	slices.Sort(labels)
	return promotion.Reasonf(promotion.RuleParentsDiffer, "%s has several versions of %s: %q",
		environment, ref.Component, slices.Compact(labels))
}

func digestUnknown(environment, component string, v image.Version) promotion.Reason {
	return promotion.Reasonf(promotion.RuleDigestUnknown, "digest unknown: %s references %s by the moving tag %s without a digest",
		environment, component, v.Tag)
}
