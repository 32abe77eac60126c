package promotion

import "promoter/internal/image"

// recheck asks whether the parents' versions are still what their tags say. A
// tag that was moved since, or an image that is gone, would put something else
// into the files than what runs there. Nothing is chosen again instead.
func (p *planner) recheck(moves []Move) []Condition { return p.recheckBy(moves, p.askedAgain) }

func (p *planner) recheckBy(moves []Move, asked func(component string, v image.Version) Fact) []Condition {
	var conditions []Condition
	for _, move := range moves {
		fact := asked(move.Component, move.To)
		now, known := p.Facts[fact]
		switch {
		case !known && p.Checkout:
		case !known:
			conditions = append(conditions, notRechecked(move))
		case isMissing(now):
			conditions = append(conditions, imageMissing(move))
		case fact.Digest == "" && move.To.Digest != "" && now.Digest != move.To.Digest:
			conditions = append(conditions, tagMoved(move, now))
		}
	}
	return conditions
}

// askedAgain is the question about a version that is carried on: where its tag
// points. A moving tag is meant to move, so there, and where there is no tag, the
// digest alone counts.
func (p *planner) askedAgain(component string, v image.Version) Fact {
	fact := Fact{Repository: p.repositoryOf(component), Tag: v.Tag}
	if p.moving(component) || v.Tag == "" {
		fact.Digest = v.Digest
	}
	return fact
}
