package promotion

import (
	"fmt"

	"promoter/internal/config"
	"promoter/internal/schedule"
)

// notEvaluated is the reason of everything that only a forge, evidence or the
// record of landings can tell.
const notEvaluated = "not evaluated: a checkout has no forge to ask"

// conditions are what must hold in the parents before the moves are proposed.
func (p *planner) conditions(moves []Move) []Condition {
	var conditions []Condition
	for _, parent := range p.settings.After {
		conditions = append(conditions, p.conditionsOf(parent, moves)...)
	}
	return conditions
}

func (p *planner) conditionsOf(parent config.Parent, moves []Move) []Condition {
	var conditions []Condition
	add := func(name, value string) {
		conditions = append(conditions, Condition{
			Name: parent.Environment + " " + name, State: Unknown, Reason: notEvaluated, Value: value,
		})
	}
	if parent.Healthy {
		add("healthy", "")
	}
	if parent.Soak > 0 {
		add("soak", schedule.FormatDuration(parent.Soak))
	}
	for _, check := range parent.Checks {
		add("check "+check, "")
	}
	if parent.Tagged != "" {
		conditions = append(conditions, p.tagged(parent, moves))
	}
	return conditions
}

// tagged says whether the tag points at every digest of the moves. It is the one
// condition that a registry alone can tell.
func (p *planner) tagged(parent config.Parent, moves []Move) Condition {
	c := Condition{Name: parent.Environment + " tagged " + parent.Tagged, State: Passed}
	for _, move := range moves {
		fact, known := p.Facts[Fact{Repository: p.repositoryOf(move.Component), Tag: parent.Tagged}]
		switch {
		case !known || move.To.Digest == "":
			c.State, c.Reason = Unknown, fmt.Sprintf("not known for %s", move.Component)
			return c
		case isMissing(fact):
			c.State, c.Reason = Pending, fmt.Sprintf("%s: the registry has no such tag", move.Component)
			return c
		case fact.Digest != move.To.Digest:
			c.State = Pending
			c.Reason = fmt.Sprintf("%s: the tag points at %s, not at %s",
				move.Component, ShortDigest(fact.Digest), ShortDigest(move.To.Digest))
			return c
		}
	}
	return c
}
