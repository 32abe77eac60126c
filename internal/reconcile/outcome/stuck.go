package outcome

import (
	"errors"
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/repo"
)

// stuck returns decisions as users see them: those whose effect has an obstacle are stuck. They stay proposed for everything
// that depends on them.
func stuck(decisions []promotion.Decision, effects []Effect) []promotion.Decision {
	obstacles := map[promotion.Target]promotion.Obstacle{}
	for _, e := range effects {
		obstacle, found := e.Obstacle()
		if !found {
			continue
		}
		for _, d := range e.Decisions {
			obstacles[d.Target] = obstacle
		}
	}
	if len(obstacles) == 0 {
		return decisions
	}
	shown := slices.Clone(decisions)
	for i, d := range shown {
		obstacle, found := obstacles[d.Target]
		if !found || d.State != promotion.Proposed {
			continue
		}
		shown[i].State, shown[i].Reason = promotion.Stuck, obstacle.Reason()
		shown[i].Obstacle = &obstacle
	}
	return shown
}

// Obstacle returns what keeps the effect from landing until a user changes something; false: nothing that is known.
func (e Effect) Obstacle() (promotion.Obstacle, bool) {
	head := ""
	if e.Open != nil {
		head = e.Open.Commit
	}
	if refused, is := errors.AsType[*repo.RefusedPushError](e.Err); is {
		return promotion.RefusedPush(refused.Branch, head, refused.Cause), true
	}
	if e.Action == ActionMerged || e.Action == ActionClosed || e.Action == ActionPushed {
		return promotion.Obstacle{}, false
	}
	if e.Open != nil && e.Open.Foreign != "" && e.Open.Conflict {
		return promotion.ConflictsWith(e.Base, *e.Open), true
	}
	for _, gate := range e.Gates {
		if gate.Obstacle != nil && gate.Blocks(false) {
			return *gate.Obstacle, true
		}
	}
	return promotion.Obstacle{}, false
}
