package promotion

import (
	"cmp"
	"slices"

	"promoter/internal/image"
	"promoter/internal/state"
)

// fromParents decides about a target that follows other environments: it wants
// what they have.
func fromParents(in *input) Decision {
	for _, source := range in.sources {
		if why, unavailable := in.obs.Unavailable[source.Environment]; unavailable {
			return unchanged(in, NotCheckedOut, Reason{Rule: RuleBranch, Message: source.Environment + " is not checked out: " + why})
		}
	}
	if len(in.sources) == 0 {
		return waiting(in, nil, nowhereUpstream(in.target.Application))
	}
	for _, source := range in.sources {
		if len(in.ix.refs[source]) == 0 {
			return waiting(in, nil, unknownUpstream(source.Environment, in.obs.Targets[source].Refusals))
		}
	}

	c := choose(in)
	if c.why.Message != "" {
		return waiting(in, c.moves, c.why)
	}
	if len(c.moves) == 0 {
		return unchanged(in, Same, sameAsUpstream(in))
	}
	if in.obs.Checkout {
		return propose(in, c.moves, fromUpstream(in.sources, c.moves, false), c.conditions)
	}

	moves, blocking, shown := supersede(in, c.moves)
	past, conditions := c.past, c.conditions
	if !sameMoves(moves, c.moves) { // the open pull request stays as it is
		past, conditions = true, slices.Concat(admissions(in, moves), verifyImages(in, moves, currentFact), parentConditions(in, moves))
	}
	d := propose(in, moves, fromUpstream(in.sources, moves, past), slices.Concat(blocking, conditions))
	d.Conditions = append(d.Conditions, shown...)
	return d
}

// upstreamSnapshot is what the sources have of the application.
func upstreamSnapshot(in *input) Snapshot {
	snapshot := Snapshot{}
	for _, source := range in.sources {
		for _, ref := range in.ix.refs[source] {
			snapshot[ref.component] = ref.pinned()
		}
	}
	return snapshot
}

// candidate is a snapshot that all sources have or had, as the target would take
// it.
type candidate struct {
	moves      []Move
	why        Reason // it cannot be taken, whatever the conditions say
	conditions []Condition
	past       bool // the sources have another one now
}

// choose returns the newest candidate that passes its conditions. If none does, it
// is the newest one that all sources had, with its conditions.
//
// An older candidate may go ahead of one that only has to wait. The search ends at
// what the target has, at what users do not want here, and at what would move
// back: nothing older than these is wanted.
func choose(in *input) candidate {
	if c := newCandidate(in, in.latest, 0); c.why.Message == "" {
		if passes, last := judge(in, c); passes && last || onlyForm(c.moves) {
			return c
		}
	}
	all := tenures(in, true)
	var newest, passing candidate
	for i := range all[0] {
		c := newCandidate(in, all, i)
		if c.why.Message == "" && len(c.moves) == 0 && i > 0 {
			break
		}
		if i == 0 || newest.why.Rule == RuleParentsDiffer && c.why.Message == "" {
			newest = c
		}
		passes, last := judge(in, c)
		if passes && passing.moves == nil {
			passing = c
		}
		if passes && isRequested(in, c.moves) {
			return c
		}
		if last || c.why.Message == "" && onlyForm(c.moves) {
			break
		}
	}
	if passing.moves != nil {
		return passing
	}
	return newest
}

// judge reports whether a candidate may be taken, and whether the search ends with
// it. A request may be for an older one that passes too.
func judge(in *input, c candidate) (passes, last bool) {
	if c.why.Message != "" {
		return false, c.why.Rule != RuleParentsDiffer
	}
	if len(c.moves) == 0 {
		return false, true
	}
	if _, _, decided := userDecision(in, c.moves); decided {
		return false, true
	}
	if _, blocked := FirstBlocking(slices.Concat(c.conditions, signatures(in, c.moves), mirrored(in, c.moves)), in.named()); blocked {
		return false, false
	}
	return true, !requestsSnapshot(in)
}

// newCandidate combines tenure i of the first source with the tenures of the other
// sources that agree with it.
func newCandidate(in *input, tenures [][]tenure, i int) candidate {
	chosen := make([]int, 1, len(in.sources))
	chosen[0] = i
	for len(chosen) < len(in.sources) {
		chosen = append(chosen, agreeingTenure(in, tenures, chosen))
	}
	c := candidate{past: tenures[0][i].past}
	for n, ref := range in.refs {
		wanted, from, why := wantedVersion(in, tenures, chosen, n)
		if from == "" || why.Message != "" {
			c.why = cmp.Or(c.why, why)
			continue
		}
		if move, moves := in.moveTo(ref, wanted); moves {
			c.moves = append(c.moves, move)
			if !in.obs.Checkout && wanted.Digest == "" {
				why = digestUnrecorded(in, from, ref, wanted)
			}
		}
		c.why = cmp.Or(c.why, why)
	}
	if c.why.Message == "" {
		c.why = movesBack(in, c.moves)
	}
	if c.why.Message == "" && len(c.moves) > 0 {
		c.conditions = slices.Concat(sourceConditions(in, tenures, chosen, c.moves), admissions(in, c.moves),
			verifyImages(in, c.moves, currentFact), parentConditions(in, c.moves))
	}
	return c
}

// agreeingTenure returns the newest tenure of the next source that agrees with the
// chosen ones, preferably one that passes its conditions. If none agrees, it is
// the current one, to show the difference.
func agreeingTenure(in *input, tenures [][]tenure, chosen []int) int {
	k, agreeing := len(chosen), -1
	for j, t := range tenures[k] {
		if !agrees(in, tenures, chosen, t) {
			continue
		}
		if _, gone := withdrawn(in, tenures[k], j); !gone && passesConditions(in, in.sources[k], t) {
			return j
		}
		if agreeing < 0 {
			agreeing = j
		}
	}
	return max(agreeing, 0)
}

func agrees(in *input, tenures [][]tenure, chosen []int, t tenure) bool {
	for k, j := range chosen {
		for c := range in.refs {
			a, b := tenures[k][j].versions[c], t.versions[c]
			if !isNone(a) && !isNone(b) && !SameRollout(a, b) {
				return false
			}
		}
	}
	return true
}

// passesConditions reports whether a tenure of a source meets all conditions of
// the parents that lead to the source.
func passesConditions(in *input, source Target, t tenure) bool {
	for _, parent := range in.settings.After {
		if !slices.Contains(in.obs.Sources(parent.Environment, in.target.Application), source) {
			continue
		}
		if _, blocked := FirstBlocking(conditionsIn(in, parent, source, t, true, nil), in.obs.Checkout); blocked {
			return false
		}
	}
	return true
}

// wantedVersion returns the version of one component on which all sources agree,
// and a source that has it. Sources without a reference to the component do not
// count.
func wantedVersion(in *input, tenures [][]tenure, chosen []int, n int) (wanted image.Version, from string, why Reason) {
	for k, source := range in.sources {
		t := tenures[k][chosen[k]]
		version := t.versions[n]
		if t.unclear != nil && t.unclear[n].Message != "" {
			return wanted, "", t.unclear[n]
		}
		if isNone(version) {
			continue
		}
		if from != "" && !SameRollout(wanted, version) {
			return wanted, "", parentsDiffer(in.refs[n].component, from, wanted, source.Environment, version)
		}
		if from == "" || wanted.Digest == "" {
			wanted, from = version, source.Environment
		}
	}
	return wanted, from, Reason{}
}

// movesBack returns the reason if a move would lead to an older version. Such a
// snapshot waits as a whole: a snapshot is never split.
func movesBack(in *input, moves []Move) Reason {
	for _, ref := range in.refs {
		move, moved := MoveOf(moves, ref.component)
		if !moved {
			continue
		}
		if current, back := ref.newerThan(move.To, in.obs.Policies[ref.component]); back {
			return backwards(ref.component, current, move.To)
		}
	}
	return Reason{}
}

// sourceConditions are the reasons for which moves are no longer promoted from a
// source that has or had them.
func sourceConditions(in *input, tenures [][]tenure, chosen []int, moves []Move) []Condition {
	var conditions []Condition
	refuse := func(source Target, why string) {
		conditions = append(conditions, Condition{Name: source.Environment, State: Failed, Reason: why})
	}
	for k, source := range in.sources {
		if why, gone := withdrawn(in, tenures[k], chosen[k]); gone {
			refuse(source, why)
		}
		for _, move := range versionMoves(moves) {
			rejection, rejected := in.obs.State.Rejected(state.Target(source), repositoryOf(in, move.Component), move.To)
			if rejected {
				refuse(source, rejectedText(move, rejection))
			}
		}
	}
	return conditions
}

// repositoryOf returns the repository of a component of the target.
func repositoryOf(in *input, component string) image.Repository {
	ref, _ := in.ix.ref(in.target, component)
	return ref.repository
}
