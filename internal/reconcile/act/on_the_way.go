package act

import (
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// A version that is already replaced is not landed on the way: see internal/promotion/decide/on_the_way.go about pushes
// to one branch, which succeed or fail together. Elsewhere, only what was done shows that upstream moves on. So what
// follows it is decided again then, in the next attempt. What failed to move on upstream stops nothing.

// moved are the targets that got other versions, or get them in the next attempt.
type moved map[promotion.Target]bool

// add remembers the targets of an effect.
func (m moved) add(effect outcome.Effect) {
	switch effect.Action {
	case outcome.ActionPushed, outcome.ActionMerged:
	case outcome.ActionOpened, outcome.ActionRefreshed:
		_, blocked := promotion.FirstBlocking(effect.Gates, false)
		if effect.Environment.Land != setting.LandAutomerge || blocked {
			return
		}
	default:
		return
	}
	for _, d := range effect.Decisions {
		if !promotion.OnlyForm(d.Moves) {
			m[d.Target] = true
		}
	}
}

// onTheWay reports whether a proposal is decided again first, because upstream moved on since it was decided. What a
// user wants now is not, nor what newer: queue and drain want all the same, and what passed gates is not thrown away.
func (m moved) onTheWay(p propose.Proposal, c *config.Config) bool {
	if len(m) == 0 || p.Step != propose.StepPropose && p.Step != propose.StepPush || p.Open != nil && p.Land && len(p.Gates) > 0 {
		return false
	}
	now := func(d promotion.Decision) bool {
		newer := c.Settings(d.Environment, d.Application).Newer
		return d.Urgent || d.IsRollback() || d.Request != nil || newer != setting.NewerRefresh
	}
	if slices.ContainsFunc(p.Decisions, now) {
		return false
	}
	upstream := c.Ancestors(p.Environment.Name)
	return slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool {
		return slices.ContainsFunc(upstream, func(environment string) bool {
			return m[promotion.Target{Environment: environment, Application: d.Application}]
		})
	})
}
