package promotion

import (
	"fmt"
	"slices"

	"promoter/internal/config"
)

// newer decides between what is wanted now and what an open pull request of ours
// carries: the settings say whether it is refreshed. It returns the moves to go on
// with, what blocks them, and what is only shown beside them. It is asked before
// the conditions, which are then those of the moves that it returns. What a person
// asked for by version, and rollbacks, are not brought here.
func (p *planner) newer(moves []Move) (wanted []Move, blocking, shown []Condition) {
	wanted = moves
	if open, found := p.open(); found && p.settings.Land != config.LandPush {
		wanted, shown = p.against(open, moves)
	}
	if len(p.settings.After) == 0 {
		blocking = p.recheck(notAmong(moves, wanted))
	}
	if p.settings.Newer == config.NewerDrain {
		blocking = append(blocking, p.drain()...)
	}
	return wanted, blocking, append(shown, p.starved()...)
}

// notAmong returns what is wanted besides the moves: it stays as it is open, and
// so the registry did not just offer it.
func notAmong(moves, wanted []Move) []Move {
	return slices.DeleteFunc(slices.Clone(wanted), func(w Move) bool {
		offered, moved := MoveOf(moves, w.Component)
		return moved && SameRollout(offered.To, w.To)
	})
}

// against chooses between what is wanted now and what is open. A request for this
// very snapshot is a decision about what is open.
func (p *planner) against(open Open, moves []Move) ([]Move, []Condition) {
	carried, valid := p.carried(open)
	if !valid || sameMoves(carried, moves) || p.lookingFor() && p.boundTo(moves) {
		return moves, nil
	}
	if why, keeps := p.keeps(open); keeps {
		return carried, []Condition{newerWaits(open, moves, why)}
	}
	return p.refreshed(moves, carried), nil
}

// keeps says whether the open pull request stays as it is until it is decided. An
// approval is somebody's work: it is not thrown away for a newer version.
func (p *planner) keeps(open Open) (string, bool) {
	if p.settings.Newer == config.NewerQueue {
		return "", true
	}
	if by := p.approvedBy(open); len(by) > 0 {
		return ", which is approved by " + people(by), true
	}
	return "", false
}

func newerWaits(open Open, moves []Move, why string) Condition {
	return Condition{
		Name: "newer", State: Pending,
		Reason: fmt.Sprintf("newer waits: %s, until #%d is decided%s", targetsInWords(moves), open.Number, why),
	}
}

// refreshed is what the pull request is to carry next. It never goes back: an
// older or a missing answer of a registry leaves a component as it is open, and
// parents that hold something older leave the whole snapshot, which is never
// split.
func (p *planner) refreshed(moves, carried []Move) []Move {
	if len(p.settings.After) > 0 {
		if slices.ContainsFunc(carried, func(c Move) bool { return p.wouldLower(moves, c) }) {
			return carried
		}
		return moves
	}
	var merged []Move
	for _, s := range p.standing {
		wanted, moved := MoveOf(moves, s.component)
		open, isOpen := MoveOf(carried, s.component)
		if isOpen && (!moved || p.wouldLower(moves, open)) {
			merged = append(merged, open)
		} else if moved {
			merged = append(merged, wanted)
		}
	}
	return merged
}

// wouldLower says whether the moves bring an older version than the open one.
func (p *planner) wouldLower(moves []Move, open Move) bool {
	wanted, moved := MoveOf(moves, open.Component)
	policy := p.Policies[open.Component]
	if !moved || policy == nil || SameRollout(wanted.To, open.To) {
		return false
	}
	order, known := compare(wanted.To, open.To, policy)
	return known && order < 0
}

func MoveOf(moves []Move, component string) (Move, bool) {
	i := slices.IndexFunc(moves, func(m Move) bool { return m.Component == component })
	if i < 0 {
		return Move{}, false
	}
	return moves[i], true
}

func sameMoves(a, b []Move) bool {
	return slices.EqualFunc(a, b, func(a, b Move) bool {
		return a.Component == b.Component && SameRollout(a.To, b.To)
	})
}
