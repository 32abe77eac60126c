package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/image"
	"promoter/internal/state"
)

// candidate is a snapshot that stands or stood in every environment before the
// place, as the place would take it.
type candidate struct {
	moves      []Move
	why        Reason // it cannot be taken, whatever the conditions say
	conditions []Condition
	past       bool // another one stands there now
}

// choose returns the newest snapshot that may be taken. Where none may, it is the
// newest one that all environments before have had, with what it waits for.
//
// A snapshot that only has to wait lets an older one pass that does not. The
// search ends at what the place holds, at what people do not want here, and at
// what would lead back: nobody wants what is older than that.
func (p *planner) choose() candidate {
	if c := p.candidate(0); c.why.Message == "" {
		if passes, ends := p.judge(c); passes && ends || len(c.moves) == 0 {
			return c
		}
	}
	p.lookBack()
	return p.chooseBack()
}

func (p *planner) chooseBack() candidate {
	var newest, passing candidate
	for i := range p.stretches(p.sources[0]) {
		c := p.candidate(i)
		if c.why.Message == "" && len(c.moves) == 0 && i > 0 {
			break
		}
		if i == 0 || newest.why.Rule == RuleParentsDiffer && c.why.Message == "" {
			newest = c
		}
		passes, ends := p.judge(c)
		if passes && passing.moves == nil {
			passing = c
		}
		if passes && p.boundTo(c.moves) {
			return c
		}
		if ends {
			break
		}
	}
	if passing.moves != nil {
		return passing
	}
	return newest
}

// judge says whether a candidate may be taken, and whether no older one is to be
// looked at. What a person asked for may be an older one that passes too.
func (p *planner) judge(c candidate) (passes, ends bool) {
	if c.why.Message != "" {
		return false, c.why.Rule != RuleParentsDiffer
	}
	if len(c.moves) == 0 {
		return false, true
	}
	if _, _, answered := p.answered(c.moves); answered {
		return false, true
	}
	if _, blocked := FirstBlocking(c.conditions, p.Checkout); blocked {
		return false, false
	}
	return true, !p.lookingFor()
}

// candidate returns the snapshot that the first source holds in one stretch, with
// what the other sources have had of it.
func (p *planner) candidate(i int) candidate {
	chosen := make([]int, len(p.sources))
	chosen[0] = i
	for k := 1; k < len(p.sources); k++ {
		chosen[k] = p.partner(chosen[:k])
	}
	c := p.combine(chosen)
	if c.why.Message == "" && len(c.moves) > 0 {
		c.conditions = slices.Concat(p.refusedBefore(chosen, c.moves), p.recheck(c.moves), p.conditions(c.moves))
	}
	return c
}

// chosenIn returns the stretch that was chosen in a source.
func (p *planner) chosenIn(chosen []int, k int) stretch {
	return p.stretches(p.sources[k])[chosen[k]]
}

// partner returns the newest stretch of the next source that agrees with those
// chosen before it: one that may be taken before one that has to wait. Where none
// agrees it is what stands there now, to show the difference.
func (p *planner) partner(chosen []int) int {
	source := p.sources[len(chosen)]
	stretches, agreeing := p.stretches(source), -1
	for j := range stretches {
		if !p.agrees(chosen, stretches[j]) {
			continue
		}
		if _, gone := p.left(stretches, j); !gone && p.ripe(source, stretches[j]) {
			return j
		}
		if agreeing < 0 {
			agreeing = j
		}
	}
	return max(agreeing, 0)
}

func (p *planner) agrees(chosen []int, stood stretch) bool {
	for k := range chosen {
		other := p.chosenIn(chosen, k)
		for c := range p.standing {
			a, b := other.versions[c], stood.versions[c]
			if !isNone(a) && !isNone(b) && !SameRollout(a, b) {
				return false
			}
		}
	}
	return true
}

// ripe says whether all holds that is asked of a snapshot where it stood.
func (p *planner) ripe(source Target, stood stretch) bool {
	for _, parent := range p.settings.After {
		if !slices.Contains(p.lookThrough(Target{parent.Environment, p.place.Application}), source) {
			continue
		}
		if _, blocked := FirstBlocking(p.conditionsIn(asking{parent, source}, stood, true), p.Checkout); blocked {
			return false
		}
	}
	return true
}

// combine makes one snapshot of what was chosen in each source, and says why it
// cannot be taken.
func (p *planner) combine(chosen []int) candidate {
	c := candidate{past: p.chosenIn(chosen, 0).past}
	for i, s := range p.standing {
		wanted, from, why := p.wantedOf(chosen, i)
		if from != "" && why.Message == "" && s.differs(wanted, p.moving(s.component)) {
			c.moves = append(c.moves, s.move(wanted))
			why = p.untold(from, s.component, wanted)
		}
		c.why = cmp.Or(c.why, why)
	}
	if c.why.Message == "" {
		c.why, _ = p.anyBackwards(c.moves)
	}
	return c
}

// wantedOf returns the version of one component on which all sources agree, and a
// source that holds it. A source that does not refer to the component has no say.
func (p *planner) wantedOf(chosen []int, i int) (wanted image.Version, from string, why Reason) {
	for k, source := range p.sources {
		stood := p.chosenIn(chosen, k)
		version := stood.versions[i]
		if stood.unclear != nil && stood.unclear[i].Message != "" {
			return wanted, "", stood.unclear[i]
		}
		if isNone(version) {
			continue
		}
		if from != "" && !SameRollout(wanted, version) {
			return wanted, "", parentsDiffer(p.standing[i].component, from, wanted, source.Environment, version)
		}
		if from == "" || wanted.Digest == "" {
			wanted, from = version, source.Environment
		}
	}
	return wanted, from, Reason{}
}

// untold is the reason of a version that stands in a source as a tag alone, where
// no trailer tells which digest that was. Where the tag points now proves nothing.
func (p *planner) untold(from, component string, wanted image.Version) Reason {
	if p.Checkout || wanted.Digest != "" {
		return Reason{}
	}
	return digestUntold(from, component, wanted)
}

// refusedBefore are the reasons for which a snapshot is not taken from a source any
// more, although it stands or stood there.
func (p *planner) refusedBefore(chosen []int, moves []Move) []Condition {
	var conditions []Condition
	refuse := func(source Target, why string) {
		conditions = append(conditions, Condition{Name: source.Environment, State: Failed, Reason: why})
	}
	for k, source := range p.sources {
		if why, gone := p.left(p.stretches(source), chosen[k]); gone {
			refuse(source, why)
		}
		for _, move := range moves {
			rejection, rejected := p.State.Rejected(state.Target(source), p.repositoryOf(move.Component), move.To)
			if rejected {
				refuse(source, rejectedWords(move, rejection))
			}
		}
	}
	return conditions
}

// boundTo says whether the moves bring the snapshot that a person asked for.
func (p *planner) boundTo(moves []Move) bool {
	return !p.lookingFor() || p.request.Snapshot == p.snapshot(moves).ID()
}
