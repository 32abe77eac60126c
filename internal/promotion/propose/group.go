package propose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"
)

// sharing are the applications of an environment that share one pull request.
type sharing struct {
	members []member
	// left are those with a pull request of their own that are still in the open one: it is
	// rebuilt without them first.
	left []member
}

// group is the proposal of the applications that share the pull request of an
// environment; false if none is needed. It contains those that are proposed now;
// one that is no longer ready leaves it. One whose registry does not answer stays
// in it as it is: nothing is known to have changed.
func group(branch string, all sharing, open *promotion.Open, now time.Time) (Proposal, bool) {
	members := all.members
	slices.SortFunc(members, func(x, y member) int { return cmp.Compare(x.Application, y.Application) })
	ready := readyMembers(members, open)
	leaves := len(all.left) > 0 && open.Foreign == ""
	if len(ready) == 0 && leaves {
		ready = keptMembers(members, *open)
	}
	switch {
	case len(ready) == 0 && leaves:
		return endedGroup(branch, all, open), true
	case len(ready) == 0 || open != nil && open.Foreign != "":
		if len(members) == 0 {
			members = all.left
		}
		return idleGroup(branch, members, open)
	}
	p := groupProposal(branch, ready, open)
	p.Step, p.Land = StepPropose, lands(p, now, ready...)
	return p, true
}

func groupProposal(branch string, members []member, open *promotion.Open) Proposal {
	p := newProposal(branch, members...)
	p.Group, p.Open = true, open
	if len(members) > 1 {
		p.Reason.Message = fmt.Sprintf("%s: %s (and %d more)", members[0].Application, p.Reason.Message, len(members)-1)
	}

	type key struct {
		name, value, reason string
		state               promotion.ConditionState
	}
	p.Gates = nil
	seen := map[key]bool{}
	for _, m := range members {
		for _, gate := range m.Gates {
			k := key{gate.Name, gate.Value, gate.Reason, gate.State}
			if !seen[k] {
				seen[k] = true
				p.Gates = append(p.Gates, gate)
			}
		}
	}
	return p
}

// readyMembers returns what the pull request contains; none if nothing is proposed.
func readyMembers(members []member, open *promotion.Open) []member {
	var ready []member
	proposed := false
	for _, m := range members {
		switch {
		case m.State == promotion.Proposed:
			proposed = true
		case m.State == promotion.Unanswered && open != nil && len(m.OpenMoves) > 0:
			m.Moves = m.OpenMoves
			m.Snapshot = m.Snapshot.With(m.OpenMoves)
		default:
			continue
		}
		ready = append(ready, m)
	}
	if !proposed {
		return nil
	}
	return ready
}

// keptMembers returns what stays in an open pull request that is rebuilt although nothing may be
// proposed now: the members that would stay if it was left as it is, as they are there.
func keptMembers(members []member, open promotion.Open) []member {
	var kept []member
	for _, m := range members {
		_, within := open.Snapshots[m.Application]
		if !within || len(m.OpenMoves) == 0 || m.Refused() {
			continue
		}
		if step, _ := keepOrClose(m.Decision, open); step != StepKeep {
			continue
		}
		undone := make([]promotion.Move, 0, len(m.Moves))
		for _, move := range m.Moves {
			undone = append(undone, promotion.Move{Component: move.Component, From: move.To, To: move.From})
		}
		m.Snapshot, m.Moves = m.Snapshot.With(undone).With(m.OpenMoves), m.OpenMoves
		kept = append(kept, m)
	}
	return kept
}

// endedGroup closes a pull request in which nothing is left without the applications that have
// one of their own.
func endedGroup(branch string, all sharing, open *promotion.Open) Proposal {
	p := groupProposal(branch, slices.Concat(all.members, all.left), open)
	p.Decisions = nil
	var names []string
	for _, m := range all.left {
		names = append(names, m.Application)
	}
	p.Step, p.Gates = StepClose, nil
	p.Reason = promotion.Reasonf(promotion.RuleGone, "only %s is left in it, which gets a pull request of its own because of: %s",
		promotion.SortedNames(names), all.left[0].Reason)
	return p
}

// idleGroup is the proposal of a group of which nothing may be proposed now. An
// open pull request is kept as long as one of its applications has a reason to.
func idleGroup(branch string, members []member, open *promotion.Open) (Proposal, bool) {
	inOpen := func(m member) bool {
		if open == nil {
			return false
		}
		_, found := open.Snapshots[m.Application]
		return found
	}
	var waiting []member
	for _, m := range members {
		if differs(m.Decision) || inOpen(m) {
			waiting = append(waiting, m)
		}
	}
	if len(waiting) == 0 && open == nil {
		return Proposal{}, false
	}
	if len(waiting) == 0 {
		waiting = members
	}
	p := groupProposal(branch, waiting, open)
	if open == nil {
		return p, true
	}
	var closing promotion.Reason
	for _, m := range waiting { // a user must not merge for the others what is rolled back upstream
		step, why := keepOrClose(m.Decision, *open)
		if inOpen(m) && step == StepClose && why.Rule == promotion.RuleLeftUpstream {
			p.Step, p.Reason = step, why
			return p, true
		}
	}
	for _, m := range waiting {
		if !inOpen(m) && len(open.Snapshots) > 0 && open.Foreign == "" {
			continue
		}
		step, why := keepOrClose(m.Decision, *open)
		if step == StepKeep {
			p.Step, p.Reason = step, why
			return p, true
		}
		closing = cmp.Or(closing, why)
	}
	if closing.Message == "" {
		// It is about applications that are nowhere any more.
		names := slices.Sorted(maps.Keys(open.Snapshots))
		closing = promotion.Reason{Rule: promotion.RuleGone, Message: "no environment has files of " + strings.Join(names, ", ")}
	}
	p.Step, p.Reason = StepClose, closing
	return p, true
}
