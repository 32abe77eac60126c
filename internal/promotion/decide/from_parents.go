package decide

import (
	"cmp"
	"slices"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// fromParents decides about a target that follows other environments: it wants
// what they have.
func fromParents(in input.Target) promotion.Decision {
	in = in.For(parts[ofParents])
	for _, source := range in.Sources {
		if why, unavailable := in.Unavailable(source.Environment); unavailable {
			reason := promotion.Reasonf(promotion.RuleBranch, "%s is not checked out: %s", source.Environment, why)
			return unchanged(in, promotion.NotCheckedOut, reason)
		}
	}
	if len(in.Sources) == 0 {
		return waiting(in, nil, nowhereUpstream(in.Target.Application))
	}
	for _, source := range in.Sources {
		if len(in.Others().Refs(source)) == 0 {
			return waiting(in, nil, unknownUpstream(source.Environment, in.Others().Refusals(source)))
		}
	}

	c := choose(in)
	if c.why.Message != "" {
		return waiting(in, c.moves, c.why)
	}
	stay := otherForms(in)
	if len(c.moves) == 0 {
		d := unchanged(in, promotion.Same, sameAsUpstream(in))
		d.Conditions = keptComponents(stay)
		return d
	}
	if in.Checkout {
		d := propose(in, c.moves, fromUpstream(in.Sources, c.moves, false), c.conditions)
		d.Conditions = append(d.Conditions, keptComponents(stay)...)
		return d
	}

	moves, blocking, shown := supersede(in, c.moves)
	past, conditions := c.past, c.conditions
	if !promotion.SameMoves(moves, c.moves) { // the open pull request stays as it is
		past = true
		conditions = conditionsOf(in, moves)
	}
	d := propose(in, moves, fromUpstream(in.Sources, moves, past), slices.Concat(blocking, conditions))
	d.Conditions = slices.Concat(d.Conditions, shown, keptComponents(stay))
	d.Newer = waitsBehind(c.moves, shown)
	return d
}

// otherForms returns why components stay: the sources have a version of another line.
func otherForms(in input.Target) (stay []promotion.Reason) {
	for _, ref := range in.Refs {
		for _, source := range in.Sources {
			there, found := in.Others().Ref(source, ref.Component)
			if !found || !ref.Differs(there.Recorded, false) {
				continue
			}
			if why := ref.OtherForm(there.Recorded, in.Policies[ref.Component]); why != "" {
				stay = append(stay, otherForm(ref, there.Recorded, why))
				break
			}
		}
	}
	return stay
}

// upstreamSnapshot is what the sources have of the application.
func upstreamSnapshot(in input.Target) promotion.Snapshot {
	in = in.For(parts[ofParents])
	snapshot := promotion.Snapshot{}
	for _, source := range in.Sources {
		for _, ref := range in.Others().Refs(source) {
			snapshot[ref.Component] = ref.Pinned()
		}
	}
	return snapshot
}

// candidate is a snapshot that all sources have or had, as the target would take
// it.
type candidate struct {
	moves      []promotion.Move
	why        promotion.Reason // it cannot be taken, whatever the conditions say
	conditions []promotion.Condition
	past       bool // the sources have another one now
}

// choose returns the newest candidate that passes its conditions. If none does, it
// is the newest one that all sources had, with its conditions.
//
// An older candidate may go ahead of one that only has to wait. The search ends at
// what the target has, at what users do not want here, and at what would move
// back: nothing older than these is wanted.
//
// A request is for one snapshot: as long as the sources have or had it, there is no other candidate.
func choose(in input.Target) candidate {
	if input.RequestsSnapshot(in) && len(in.Request.For) > 0 {
		if c, found := requestedCandidate(in); found {
			return c
		}
	}
	latest := newCandidate(in, newSourcePeriods(in, input.Latest(in)), 0)
	if latest.why.Message == "" {
		passes, last := judge(in, latest)
		if passes && last || promotion.OnlyForm(latest.moves) {
			return latest
		}
	}
	all := newSourcePeriods(in, input.Periods(in))
	var newest candidate  // to wait for, if none passes
	var passing candidate // the newest one that passes, while a request may be for an older one
	for i := range all.periods[0] {
		c := latest
		if i > 0 || len(all.periods) > 1 { // several sources may agree in the past
			c = newCandidate(in, all, i)
		}
		if c.why.Message == "" && len(c.moves) == 0 && i > 0 {
			break // the target has it, so nothing older is wanted
		}
		if i == 0 || newest.why.Rule == promotion.RuleParentsDiffer && c.why.Message == "" {
			newest = c
		}
		passes, last := judge(in, c)
		if passes && passing.moves == nil {
			passing = c
		}
		if passes && input.IsRequested(in, c.moves) {
			return c
		}
		if last || c.why.Message == "" && promotion.OnlyForm(c.moves) {
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
func judge(in input.Target, c candidate) (passes, last bool) {
	if c.why.Message != "" {
		return false, c.why.Rule != promotion.RuleParentsDiffer
	}
	if len(c.moves) == 0 {
		return false, true
	}
	if _, _, decided := input.UserDecision(in, c.moves); decided {
		return false, true
	}
	required := [...][]promotion.Condition{c.conditions, condition.Signatures(in, c.moves), condition.Mirrored(in, c.moves)}
	for _, conditions := range required {
		if _, blocked := promotion.FirstBlocking(conditions, in.Named()); blocked {
			return false, false
		}
	}
	return true, !input.RequestsSnapshot(in)
}

// newCandidate combines period i of the first source with the periods of the other
// sources that agree with it.
func newCandidate(in input.Target, of sourcePeriods, i int) candidate {
	periods := of.periods
	chosen := make([]int, 1, len(in.Sources))
	chosen[0] = i
	for len(chosen) < len(in.Sources) {
		chosen = append(chosen, agreeingPeriod(in, of, chosen))
	}
	c := candidate{past: periods[0][i].Past}
	for n, ref := range in.Refs {
		wanted, from, why := wantedVersion(in, periods, chosen, n)
		if from == "" || why.Message != "" {
			c.why = cmp.Or(c.why, why)
			continue
		}
		if ref.OtherForm(wanted, in.Policies[ref.Component]) != "" {
			continue
		}
		if move, moves := input.MoveTo(in, ref, wanted); moves {
			c.moves = append(c.moves, move)
			if !in.Checkout && wanted.Digest == "" {
				why = digestUnrecorded(in, from, ref, wanted)
			}
		}
		c.why = cmp.Or(c.why, why)
	}
	if c.why.Message == "" {
		c.why = movesBack(in, c.moves)
	}
	if c.why.Message == "" && len(c.moves) > 0 {
		c.conditions = slices.Concat(sourceConditions(in, of, chosen, c.moves), conditionsOf(in, c.moves))
	}
	return c
}

// conditionsOf are the conditions of moves to versions of the sources.
func conditionsOf(in input.Target, moves []promotion.Move) []promotion.Condition {
	return slices.Concat(condition.Admissions(in, moves), condition.VerifyImages(in, moves, in.CurrentFact), condition.OfParents(in, moves))
}

// sourcePeriods is what the sources have and had, with what was found out about that: each candidate is compared with each
// period.
type sourcePeriods struct {
	periods   [][]input.Period                                 // by index of Target.Sources, newest first
	withdrawn func(source, period int) (why string, gone bool) // see input.Withdrawn
	passes    func(source, period int) bool                    // see passesConditions
}

func newSourcePeriods(in input.Target, periods [][]input.Period) sourcePeriods {
	type place struct{ source, period int }
	type withdrawal struct {
		why  string
		gone bool
	}
	withdrawals, passed := map[place]withdrawal{}, map[place]bool{}
	withdrawn := func(k, j int) (string, bool) {
		found, known := withdrawals[place{k, j}]
		if !known {
			found.why, found.gone = input.Withdrawn(in, periods[k], j)
			withdrawals[place{k, j}] = found
		}
		return found.why, found.gone
	}
	passes := func(k, j int) bool {
		found, known := passed[place{k, j}]
		if !known {
			found = passesConditions(in, in.Sources[k], periods[k][j])
			passed[place{k, j}] = found
		}
		return found
	}
	return sourcePeriods{periods, withdrawn, passes}
}

// agreeingPeriod returns the newest period of the next source that agrees with the
// chosen ones, preferably one that passes its conditions. If none agrees, it is
// the current one, to show the difference.
func agreeingPeriod(in input.Target, of sourcePeriods, chosen []int) int {
	k := len(chosen)
	agreeing := -1
	for j, t := range of.periods[k] {
		if !agrees(in, of.periods, chosen, t) {
			continue
		}
		if _, gone := of.withdrawn(k, j); !gone && of.passes(k, j) {
			return j
		}
		if agreeing < 0 {
			agreeing = j
		}
	}
	return max(agreeing, 0)
}

func agrees(in input.Target, periods [][]input.Period, chosen []int, t input.Period) bool {
	for k, j := range chosen {
		if !in.Spend(1 + len(in.Refs)) {
			return false
		}
		for c := range in.Refs {
			a, b := periods[k][j].Versions[c], t.Versions[c]
			if !promotion.IsNone(a) && !promotion.IsNone(b) && !promotion.SameRollout(a, b) {
				return false
			}
		}
	}
	return true
}

// passesConditions reports whether a period of a source meets all conditions of
// the parents that lead to the source.
func passesConditions(in input.Target, source promotion.Target, t input.Period) bool {
	for i := range in.Settings.After {
		if !in.Spend(1 + len(in.Behind(i))) {
			return false
		}
		if !slices.Contains(in.Behind(i), source) {
			continue
		}
		if _, blocked := promotion.FirstBlocking(condition.InSource(in, &in.Settings.After[i], source, &t), in.Checkout); blocked {
			return false
		}
	}
	return true
}

// wantedVersion returns the version of one component on which all sources agree,
// and a source that has it. Sources without a reference to the component do not
// count.
func wantedVersion(
	in input.Target, periods [][]input.Period, chosen []int, n int,
) (wanted image.Version, from string, why promotion.Reason) {
	for k, source := range in.Sources {
		t := periods[k][chosen[k]]
		version := t.Versions[n]
		if t.Unclear != nil && t.Unclear[n].Message != "" {
			return wanted, "", t.Unclear[n]
		}
		if promotion.IsNone(version) {
			continue
		}
		if from != "" && !promotion.SameRollout(wanted, version) {
			return wanted, "", parentsDiffer(in.Refs[n].Component, from, wanted, source.Environment, version)
		}
		if from == "" || wanted.Digest == "" {
			wanted, from = version, source.Environment
		}
	}
	return wanted, from, promotion.Reason{}
}

// movesBack returns the reason if a move would lead to an older version. Such a
// snapshot waits as a whole: a snapshot is never split.
func movesBack(in input.Target, moves []promotion.Move) promotion.Reason {
	for _, ref := range in.Refs {
		move, moved := promotion.MoveOf(moves, ref.Component)
		if !moved {
			continue
		}
		if current, back := ref.NewerThan(move.To, in.Policies[ref.Component]); back {
			return backwards(ref.Component, current, move.To)
		}
	}
	return promotion.Reason{}
}

// sourceConditions are the reasons for which moves are no longer promoted from a
// source that has or had them.
func sourceConditions(in input.Target, of sourcePeriods, chosen []int, moves []promotion.Move) []promotion.Condition {
	var conditions []promotion.Condition
	refuse := func(source promotion.Target, why string) {
		conditions = append(conditions, promotion.Condition{Name: source.Environment, State: promotion.Failed, Reason: why})
	}
	for k, source := range in.Sources {
		if why, gone := of.withdrawn(k, chosen[k]); gone {
			refuse(source, why)
		}
		for _, move := range promotion.VersionMoves(moves) {
			rejection, rejected := in.State().Rejected(state.Target(source), in.RepositoryOf(move.Component), move.To)
			if rejected {
				refuse(source, input.RejectedText(in.State(), source, move, rejection))
			}
		}
	}
	return conditions
}
