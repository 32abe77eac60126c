package pullrequest

import (
	"cmp"
	"fmt"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/state"
)

// group arranges the applications that share the pull request of an environment.
// It carries those that are proposed now; one that stops being ready leaves it.
// One whose registry does not answer stays in it as it is: nothing is known to
// have changed.
func (a *arranger) group(branch string, members []member) {
	slices.SortFunc(members, func(x, y member) int { return cmp.Compare(x.Application, y.Application) })
	open := a.claim(branch)
	carried := ready(members, open)
	if len(carried) == 0 || open != nil && open.Foreign != "" {
		a.idle(branch, members, open)
		return
	}
	p := a.proposal(branch, carried...)
	p.Group, p.Open, p.Step = true, open, StepPropose
	p.Gates, p.Reason = gatesOfAll(carried), reasonOfAll(carried)
	p.Land = a.lands(p, carried...)
	a.add(p)
}

// ready returns what the pull request carries; none when nothing is proposed.
func ready(members []member, open *promotion.Open) []member {
	var carried []member
	proposed := false
	for _, m := range members {
		switch {
		case m.State == promotion.Proposed:
			proposed = true
		case m.State == promotion.Unanswered && open != nil:
			if len(m.OpenMoves) == 0 {
				continue
			}
			m.Moves, m.Snapshot = m.OpenMoves, m.Snapshot.With(m.OpenMoves)
		default:
			continue
		}
		carried = append(carried, m)
	}
	if !proposed {
		return nil
	}
	return carried
}

// idle arranges a group of which nothing may be proposed now.
func (a *arranger) idle(branch string, members []member, open *promotion.Open) {
	var waiting []member
	for _, m := range members {
		_, isIn := snapshotIn(open, m.Application)
		if differs(m.Decision) || isIn {
			waiting = append(waiting, m)
		}
	}
	if len(waiting) == 0 && open == nil {
		return
	}
	if len(waiting) == 0 {
		waiting = members
	}
	p := a.proposal(branch, waiting...)
	p.Group, p.Open, p.Step = true, open, StepWait
	p.Gates, p.Reason = gatesOfAll(waiting), reasonOfAll(waiting)
	if open != nil {
		p.Step, p.Reason = leftOfAll(waiting, *open)
	}
	a.add(p)
}

func snapshotIn(open *promotion.Open, application string) (promotion.Snapshot, bool) {
	if open == nil {
		return nil, false
	}
	snapshot, isIn := open.Snapshots[application]
	return snapshot, isIn
}

// leftOfAll keeps the pull request as long as one of those in it has a reason to.
func leftOfAll(members []member, open promotion.Open) (Step, promotion.Reason) {
	var closing promotion.Reason
	for _, m := range members {
		if _, isIn := open.Snapshots[m.Application]; !isIn && len(open.Snapshots) > 0 && open.Foreign == "" {
			continue
		}
		step, why := left(m.Decision, open)
		if step == StepKeep {
			return step, why
		}
		closing = cmp.Or(closing, why)
	}
	if closing.Message == "" {
		closing = promotion.AlreadySame()
	}
	return StepClose, closing
}

// gatesOfAll joins the gates of the members, each once.
func gatesOfAll(members []member) []promotion.Condition {
	type key struct {
		name, value, reason string
		state               promotion.ConditionState
	}
	var gates []promotion.Condition
	seen := map[key]bool{}
	for _, m := range members {
		for _, gate := range m.Gates {
			k := key{gate.Name, gate.Value, gate.Reason, gate.State}
			if !seen[k] {
				seen[k] = true
				gates = append(gates, gate)
			}
		}
	}
	return gates
}

func reasonOfAll(members []member) promotion.Reason {
	reason := members[0].Reason
	if len(members) > 1 {
		reason.Message = fmt.Sprintf("%s: %s (and %d more)", members[0].Application, reason.Message, len(members)-1)
	}
	return reason
}

// isGroup says whether a place is the shared branch of an environment.
func isGroup(target promotion.Target) bool { return target.Application == state.All }
