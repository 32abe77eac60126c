package history

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
	"promoter/internal/store"
)

// outcomes are what became of landed snapshots: healthy, failed, or reverted. All can be
// observed again: health is mirrored on the forge, failures are on the state branch, and what
// was reverted is in Git.
func (w eventWriter) outcomes(report outcome.Report) []store.Event {
	var all []store.Event
	add := func(target promotion.Target, action string, at time.Time, l promotion.Landing, since time.Time) {
		e := withSnapshot(w.event(target, action, w.notAfterNow(at)), l.Snapshot, promotion.ChangesOf(l.Before, l.Snapshot))
		e.Commit = cmp.Or(l.First, l.Commit)
		e.Number = l.Number
		e.Since = since
		all = append(all, e)
	}
	for _, target := range slices.SortedFunc(maps.Keys(report.Landings), promotion.Target.Compare) {
		landings := report.Landings[target]
		for i, l := range landings {
			if !l.Health.HealthySince.IsZero() {
				add(target, store.EventHealthy, l.Health.HealthySince, l, time.Time{})
			}
			if l.Reverted && i > 0 {
				at := landings[i-1].At // not Until, which is now where the time is not known
				if at.IsZero() {
					at = w.now
				}
				// Reports have whole seconds: one about what is there now is not from before the revert.
				add(target, store.EventReverted, at.Truncate(time.Second), l, time.Time{})
			}
		}
	}
	for _, decisions := range report.UserDecisions {
		for _, target := range decisions.Targets() {
			all = append(all, w.failed(report, target, decisions.At(target).Failures)...)
		}
	}
	return all
}

// failed are the landed snapshots that are recorded as failed. Since when each was unhealthy is
// known while its health is.
func (w eventWriter) failed(report outcome.Report, target state.Target, failures []state.Failure) []store.Event {
	var all []store.Event
	for _, failure := range failures {
		e := w.event(promotion.Target(target), store.EventFailed, failure.At)
		e.Snapshot = failure.Snapshot
		e.Rule = string(promotion.RuleFailed)
		e.Message = failure.Reason
		landings := report.Landings[promotion.Target(target)]
		if i := slices.IndexFunc(landings, func(l promotion.Landing) bool { return l.Snapshot.ID() == failure.Snapshot }); i >= 0 {
			l := landings[i]
			e = withSnapshot(e, l.Snapshot, promotion.ChangesOf(l.Before, l.Snapshot))
			e.Commit, e.Number = cmp.Or(l.First, l.Commit), l.Number
			if since := l.Health.UnhealthySince; since.Before(failure.At) {
				e.Since = since
			}
		}
		all = append(all, e)
	}
	return all
}

// times are the times of promotions that are underway: of conditions and gates, of images, and
// of source commits, as far as they were read for pull requests.
func (w eventWriter) times(report outcome.Report) []store.PromotionTime {
	times := promotionTimes{}
	for _, effect := range report.Effects {
		for _, d := range effect.Decisions {
			if effect.Action != outcome.ActionNone { // the last cycle may know nothing about it
				w.addGates(times, d)
			}
			w.addSources(times, d, effect.Changes)
		}
	}
	for _, d := range report.Decisions {
		w.addGates(times, d)
	}
	return slices.SortedFunc(maps.Values(times), func(a, b store.PromotionTime) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Application, b.Application),
			cmp.Compare(a.Snapshot, b.Snapshot), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// promotionTimes are times by what they are of.
type promotionTimes map[timeKey]store.PromotionTime

type timeKey struct {
	store.TargetKey
	snapshot, kind, name string
}

func (t promotionTimes) set(one store.PromotionTime) {
	t[timeKey{one.TargetKey, one.Snapshot, one.Kind, one.Name}] = one
}

func (w eventWriter) time(d promotion.Decision, kind, name string) store.PromotionTime {
	key := store.TargetKey{Repository: w.key, Environment: d.Environment, Application: d.Application}
	return store.PromotionTime{TargetKey: key, Snapshot: d.Snapshot.ID(), Kind: kind, Name: name}
}

// addGates adds the conditions and gates of a decision about a move. Those of several images are
// one.
func (w eventWriter) addGates(times promotionTimes, d promotion.Decision) {
	if len(d.Moves) == 0 || !d.State.IsUnderway() {
		return
	}
	passed := map[string]bool{}
	for _, c := range slices.Concat(d.Conditions, d.Gates) {
		name := gateName(c.Name, d.Moves)
		before, known := passed[name]
		passed[name] = c.State == promotion.Passed && (before || !known)
	}
	for name, isPassed := range passed {
		one := w.time(d, store.TimeOfGate, name)
		one.Passed = isPassed
		times.set(one)
	}
}

// gateName is the name of a condition or gate without what differs from one promotion to the
// next: the image it is about, and who put it on hold.
func gateName(name string, moves []promotion.Move) string {
	for _, m := range moves {
		switch rest, found := strings.CutPrefix(name, m.Component+" "+promotion.Label(m.To)); {
		case found && rest == "" || name == m.Component:
			return "image"
		case found && rest == " signature":
			return "signature"
		}
	}
	if strings.HasPrefix(name, "hold ") {
		return "hold"
	}
	return name
}

// addSources adds the times of the images that a decision brings, and of their source commits.
func (w eventWriter) addSources(times promotionTimes, d promotion.Decision, changes map[pullrequest.ChangeKey]pullrequest.Change) {
	for _, m := range d.Moves {
		if m.Form != "" {
			continue
		}
		change := changes[pullrequest.KeyOf(m)]
		one := w.time(d, store.TimeOfCommit, m.Component)
		if one.Began = change.OldestCommit(); !one.Began.IsZero() {
			times.set(one)
		}
		one = w.time(d, store.TimeOfImage, m.Component)
		if one.Began = change.To.Created; !image.KnownCreated(one.Began) {
			one.Began = m.To.Created
		}
		if image.KnownCreated(one.Began) {
			times.set(one)
		}
	}
}
