package pullrequest

import (
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// Page is what a pull request tells people. It holds no present time: the same
// state makes the same words, so that nothing is edited without need.
type Page struct {
	Proposal
	// Commits are those between two versions, where they may be shown.
	Commits map[Span]scm.Comparison
}

// Span is the way of a component from one source commit to another.
type Span struct {
	Component string
	From, To  string // revisions
}

// SpanOf returns the span of a move; false where a revision is not known or both
// are one.
func SpanOf(m promotion.Move) (Span, bool) {
	span := Span{Component: m.Component, From: m.From.Revision, To: m.To.Revision}
	return span, span.From != "" && span.To != "" && span.From != span.To
}

// moves are all moves of the page, in its order.
func (p Page) moves() []promotion.Move {
	var moves []promotion.Move
	for _, d := range p.Decisions {
		moves = append(moves, p.shown(d)...)
	}
	return moves
}

// shown are the moves that the pull request stands for. One that is kept stands
// for what its head carries, whatever is wanted by now.
func (p Page) shown(d promotion.Decision) []promotion.Move {
	if p.Step != StepKeep || p.Open == nil {
		return d.Moves
	}
	carried, told := p.Open.Snapshots[d.Application]
	if !told {
		return d.Moves
	}
	var moves []promotion.Move
	for _, component := range carried.Components() {
		move := promotion.Move{Component: component, From: d.Snapshot[component].Version, To: carried[component].Version}
		if wanted, moved := promotion.MoveOf(d.Moves, component); moved {
			move.From = wanted.From
			if promotion.SameRollout(wanted.To, move.To) {
				move.To = wanted.To // of which more is known
			}
		}
		if !promotion.SameRollout(move.From, move.To) {
			moves = append(moves, move)
		}
	}
	return moves
}

func (p Page) applications() []string {
	var names []string
	for _, d := range p.Decisions {
		names = append(names, d.Application)
	}
	return names
}
