package promotion

import (
	"fmt"
	"slices"

	"promoter/internal/config"
	"promoter/internal/schedule"
)

// notEvaluated is the reason of everything that only a forge, evidence or the
// record of landings can tell.
const notEvaluated = "not evaluated: a checkout has no forge to ask"

// noEvidence is the reason of what only evidence can tell. It blocks: what is not
// known to be healthy is not.
const noEvidence = "no evidence source yet"

// conditions are what must hold in the parents before the moves are proposed.
func (p *planner) conditions(moves []Move) []Condition {
	var conditions []Condition
	for _, parent := range p.settings.After {
		conditions = append(conditions, p.conditionsOf(parent, moves)...)
	}
	return conditions
}

// conditionsOf are what must hold in one parent. Where the application is absent
// there, they are asked of the environments before it.
func (p *planner) conditionsOf(parent config.Parent, moves []Move) []Condition {
	if p.Checkout {
		return p.unevaluated(parent, moves)
	}
	var conditions []Condition
	for _, source := range p.lookThrough(Target{parent.Environment, p.place.Application}) {
		stood, found := p.stretchOf(source, moves)
		conditions = append(conditions, p.conditionsIn(asking{parent, source}, stood, found)...)
	}
	if parent.Tagged != "" {
		conditions = append(conditions, p.tagged(parent, moves))
	}
	return conditions
}

// unevaluated names the conditions where nothing can tell them.
func (p *planner) unevaluated(parent config.Parent, moves []Move) []Condition {
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

// asking is a parent of the config with the place that answers for it: the
// application there, or in an environment before it.
type asking struct {
	config.Parent
	source Target
}

// name is the name of a condition, as in the config file.
func (a asking) name(condition string) string {
	name := a.Environment + " " + condition
	if a.Environment != a.source.Environment {
		name += " (in " + a.source.Environment + ")"
	}
	return name
}

// conditionsIn asks what must hold of a snapshot where it stands or stood. One
// that never stood there fulfills nothing.
func (p *planner) conditionsIn(a asking, stood stretch, found bool) []Condition {
	var conditions []Condition
	add := func(c Condition) {
		if !found {
			c = Condition{Name: c.Name, Value: c.Value, State: Pending, Reason: notEligible(a.source)}
		}
		conditions = append(conditions, c)
	}
	if a.Healthy {
		add(Condition{Name: a.name("healthy"), State: Unknown, Reason: noEvidence})
	}
	if a.Soak > 0 {
		add(p.soak(a, stood))
	}
	for _, pattern := range a.Checks {
		add(checkedBy(a.name("check "+pattern), pattern, stood.checks))
	}
	return conditions
}

// stretchOf returns the newest stretch of a source that holds the moves and, but
// for what a person named, what the place would hold beside them.
func (p *planner) stretchOf(source Target, moves []Move) (stretch, bool) {
	holds := func(stood stretch) bool {
		for i, s := range p.standing {
			there := stood.versions[i]
			if isNone(there) {
				continue
			}
			if move, moved := MoveOf(moves, s.component); moved && !SameRollout(move.To, there) {
				return false
			} else if !moved && !p.named(moves) && s.differs(there, false) {
				return false
			}
		}
		return true
	}
	stretches := p.stretches(source)
	i := slices.IndexFunc(stretches, holds)
	if i < 0 && !p.back {
		p.lookBack()
		return p.stretchOf(source, moves)
	}
	if i < 0 {
		return stretch{}, false
	}
	return stretches[i], true
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
