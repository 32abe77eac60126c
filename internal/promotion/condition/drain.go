package condition

import (
	"fmt"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// Drain keeps a newer snapshot out until the current one met the conditions of
// every child environment. It passes if the current one cannot meet them any more.
func Drain(in input.Target) []promotion.Condition {
	in = in.For(otherConditions[ofDrain])
	for _, ref := range in.Refs {
		if _, rejected := in.State().Rejected(state.Target(in.Target), ref.Repository, ref.Recorded); rejected {
			return nil
		}
	}
	for _, environment := range in.Config.Order() {
		child := in.In(environment)
		parent, follows := parentOf(child, in.Target)
		if !follows {
			continue
		}
		moves := promotion.VersionMoves(input.MovesTo(child, in.Snapshot(nil)))
		if _, _, decided := input.UserDecision(child, moves); decided || len(moves) == 0 {
			continue
		}
		blocking, blocked := promotion.FirstBlocking(ofParent(child, parent, moves), in.Checkout)
		if !blocked || blocking.State == promotion.Failed {
			continue
		}
		return []promotion.Condition{{
			Name: "drain", State: promotion.Pending, Until: blocking.Until,
			Reason: fmt.Sprintf("%s has not reached %s yet: %s", in.Snapshot(nil), environment, promotion.BlockedBy(blocking)),
		}}
	}
	return nil
}

// parentOf returns the index of the parent in the config through which a target is a source.
func parentOf(in input.Target, source promotion.Target) (int, bool) {
	for i := range in.Settings.After {
		if slices.Contains(in.Behind(i), source) {
			return i, true
		}
	}
	return 0, false
}

// minReplaced is how many consecutive snapshots must be replaced too early before
// a soak counts as starved: one may be chance.
const minReplaced = 2

// StarvedSoaks shows the soaks that no snapshot will pass, because newer ones keep
// replacing it.
func StarvedSoaks(in input.Target) []promotion.Condition {
	var shown []promotion.Condition
	for i, source := range in.Sources {
		index, found := parentOf(in, source)
		if !found {
			continue
		}
		parent := &in.Settings.After[index]
		if parent.Soak == 0 || in.SettingsIn(source.Environment).Newer != setting.NewerRefresh {
			continue
		}
		in := in.For(otherConditions[ofStarvedSoak])
		soaked := func(t input.Period) bool {
			until := t.Until
			if !t.Past {
				until = in.Now()
			}
			return t.Since.IsZero() || until.Sub(t.Since) >= parent.Soak
		}
		if soaked(input.Latest(in)[i][0]) {
			continue
		}
		replaced := 0
		for _, t := range input.PeriodsOf(in, i) {
			if soaked(t) {
				break
			}
			if t.Past && !t.Reverted {
				replaced++
			}
		}
		if replaced < minReplaced {
			continue
		}
		shown = append(shown, promotion.Condition{
			Name: parent.Environment + " soak", State: promotion.Pending, Value: schedule.FormatDuration(parent.Soak),
			Reason: fmt.Sprintf("no version soaks long enough: %s is updated (newer: refresh) before %s have passed; "+
				"newer: drain lets one through", source.Environment, schedule.FormatDuration(parent.Soak)),
		})
	}
	return shown
}
