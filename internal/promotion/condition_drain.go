package promotion

import (
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// drain keeps a newer snapshot out until the current one met the conditions of
// every child environment. It passes if the current one cannot meet them any more.
func drain(in *input) []Condition {
	for _, ref := range in.refs {
		if _, rejected := in.obs.State.Rejected(state.Target(in.target), ref.repository, ref.recorded); rejected {
			return nil
		}
	}
	for _, environment := range in.obs.Config.Order() {
		child := newInput(in.ix, Target{environment, in.target.Application}, in.now)
		parent, follows := parentOf(child, in.target)
		if !follows {
			continue
		}
		moves := versionMoves(movesTo(child, in.snapshot(nil)))
		if _, _, decided := userDecision(child, moves); decided || len(moves) == 0 {
			continue
		}
		blocking, blocked := FirstBlocking(conditionsOf(child, parent, moves), in.obs.Checkout)
		if !blocked || blocking.State == Failed {
			continue
		}
		return []Condition{{
			Name: "drain", State: Pending, Until: blocking.Until,
			Reason: fmt.Sprintf("%s has not reached %s yet: %s", in.snapshot(nil), environment, BlockedBy(blocking)),
		}}
	}
	return nil
}

// parentOf returns the parent in the config through which a target is a source.
func parentOf(in *input, source Target) (config.Parent, bool) {
	return find(in.settings.After, func(parent config.Parent) bool {
		return slices.Contains(in.obs.Sources(parent.Environment, in.target.Application), source)
	})
}

// minReplaced is how many consecutive snapshots must be replaced too early before
// a soak counts as starved: one may be chance.
const minReplaced = 2

// starvedSoaks shows the soaks that no snapshot will pass, because newer ones keep
// replacing it.
func starvedSoaks(in *input) []Condition {
	var shown []Condition
	for _, source := range in.sources {
		parent, _ := parentOf(in, source)
		settings := in.obs.Settings(source.Environment, source.Application)
		if parent.Soak == 0 || settings.Newer != config.NewerRefresh {
			continue
		}
		replaced := 0
		for _, t := range tenuresIn(in, source, true) {
			until := t.until
			if !t.past {
				until = in.now
			}
			if t.since.IsZero() || until.Sub(t.since) >= parent.Soak {
				break
			}
			if t.past && !t.reverted {
				replaced++
			}
		}
		if replaced < minReplaced {
			continue
		}
		shown = append(shown, Condition{
			Name: parent.Environment + " soak", State: Pending, Value: schedule.FormatDuration(parent.Soak),
			Reason: fmt.Sprintf("no version soaks long enough: %s is updated (newer: refresh) before %s have passed; newer: drain lets one through",
				source.Environment, schedule.FormatDuration(parent.Soak)),
		})
	}
	return shown
}
