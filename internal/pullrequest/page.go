package pullrequest

import (
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
)

// Page is what the text of a pull request is made from. It contains no current
// time: the same state gives the same text, so that nothing is edited without
// need.
type Page struct {
	propose.Proposal
	// Rendered is what changes in rendered manifests; nil: it is not shown.
	Rendered []Manifests
	// Changes are what is known about the changes of components. One without an entry was
	// not read.
	Changes map[ChangeKey]Change
	// Incomplete is set if a part of Changes could not be read just now, see KeepChanges.
	Incomplete bool
	// Drift is what the files have besides, and this pull request does not change.
	Drift []string
	// Comments are the commands in comments; nil: promoter reads no comments here.
	Comments *Comments
}

// Changed is a component that a pull request moves in one application.
type Changed struct {
	promotion.Target
	promotion.Move
	Repository image.Repository
}

// Changed returns all moves of the page, in its order.
func (p Page) Changed() []Changed {
	var all []Changed
	for _, d := range p.Decisions {
		snapshot := d.Snapshot
		if p.Step == propose.StepKeep && p.Open != nil && p.Open.Snapshots[d.Application] != nil {
			snapshot = p.Open.Snapshots[d.Application]
		}
		for _, m := range p.movesOf(d) {
			all = append(all, Changed{d.Target, m, snapshot[m.Component].Repository})
		}
	}
	return all
}

// Moves returns all moves of the page, in its order.
func (p Page) Moves() []promotion.Move {
	var moves []promotion.Move
	for _, d := range p.Decisions {
		moves = append(moves, p.movesOf(d)...)
	}
	return moves
}

// movesOf returns the moves that the pull request has for a decision. One that is
// kept has those of its head, whatever is wanted by now.
func (p Page) movesOf(d promotion.Decision) []promotion.Move {
	if p.Step != propose.StepKeep || p.Open == nil {
		return d.Moves
	}
	snapshot, known := p.Open.Snapshots[d.Application]
	if !known {
		return d.Moves
	}
	return MovesTo(snapshot, d)
}

// MovesTo returns the moves that an open pull request with a snapshot has for a
// decision, which may be about something newer.
func MovesTo(snapshot promotion.Snapshot, d promotion.Decision) []promotion.Move {
	var moves []promotion.Move
	for _, component := range snapshot.Components() {
		move := promotion.Move{Component: component, From: d.Snapshot[component].Version, To: snapshot[component].Version}
		if wanted, moved := promotion.MoveOf(d.Moves, component); moved {
			move.From = wanted.From
			if promotion.SameRollout(wanted.To, move.To) {
				move.To, move.Form = wanted.To, wanted.Form // of which more is known
			}
		}
		if move.Form != "" || !promotion.SameRollout(move.From, move.To) {
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
