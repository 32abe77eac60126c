package promotion

import (
	"fmt"
	"time"

	"promoter/internal/config"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// drain keeps a newer snapshot out until the present one satisfied the conditions
// of every child. It lets go where the present one cannot get through any more.
func (p *planner) drain() []Condition {
	if p.answeredHere() {
		return nil
	}
	for _, environment := range p.Config.Order() {
		child := newPlanner(p.survey, Target{environment, p.place.Application}, p.now)
		if c, waits := p.draining(child); waits {
			return []Condition{c}
		}
	}
	return nil
}

// answeredHere says whether people do not want what stands here.
func (p *planner) answeredHere() bool {
	for _, s := range p.standing {
		if _, rejected := p.State.Rejected(state.Target(p.place), s.repository, s.told); rejected {
			return true
		}
	}
	return false
}

// draining says what the present snapshot still waits for in one child.
func (p *planner) draining(child *planner) (Condition, bool) {
	parent, follows := child.parentVia(p.place)
	if !follows {
		return Condition{}, false
	}
	moves := child.movesTo(p.snapshot(nil))
	if _, _, answered := child.answered(moves); answered || len(moves) == 0 {
		return Condition{}, false
	}
	blocking, blocked := FirstBlocking(child.conditionsOf(parent, moves), p.Checkout)
	if !blocked || blocking.State == Failed {
		return Condition{}, false
	}
	why := BlockedBy(blocking)
	return Condition{
		Name: "drain", State: Pending, Until: blocking.Until,
		Reason: fmt.Sprintf("%s is not through to %s yet: %s", p.snapshot(nil), child.place.Environment, why),
	}, true
}

// parentVia returns the parent of the config through which a place is a source.
func (p *planner) parentVia(source Target) (config.Parent, bool) {
	for _, parent := range p.settings.After {
		for _, found := range p.lookThrough(Target{parent.Environment, p.place.Application}) {
			if found == source {
				return parent, true
			}
		}
	}
	return config.Parent{}, false
}

// manyReplaced is how many snapshots in a row must have left too early before a
// soak is said to starve: one may be chance.
const manyReplaced = 2

// starved says which soaks no snapshot will pass, as newer ones keep coming: it is
// shown beside what they block.
func (p *planner) starved() []Condition {
	var shown []Condition
	for _, source := range p.sources {
		parent, _ := p.parentVia(source)
		if parent.Soak == 0 {
			continue
		}
		settings := p.Settings(source.Environment, source.Application)
		if settings.Newer != config.NewerRefresh || p.tooShort(source, parent.Soak) < manyReplaced {
			continue
		}
		shown = append(shown, Condition{
			Name: parent.Environment + " soak", State: Pending, Value: schedule.FormatDuration(parent.Soak),
			Reason: fmt.Sprintf("no snapshot gets through: %s takes every newer one (newer: refresh) before %s pass; newer: drain brings one through",
				source.Environment, schedule.FormatDuration(parent.Soak)),
		})
	}
	return shown
}

// tooShort counts the last snapshots of a source in a row that newer ones replaced
// within the soak. There are none while the present one has soaked.
func (p *planner) tooShort(source Target, soak time.Duration) int {
	count := 0
	for _, stood := range p.stretches(source) {
		until := stood.until
		if !stood.past {
			until = p.now
		}
		if stood.at.IsZero() || until.Sub(stood.at) >= soak {
			break
		}
		if stood.past && !stood.taken {
			count++
		}
	}
	return count
}
