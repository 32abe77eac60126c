package pullrequest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
)

// Plan says what a pass does about every branch of ours: the decisions of one
// application in one environment, or of all that share a pull request, become one
// proposal. It is pure, and carries nothing out. Rollbacks come first, then what
// was requested, then closes, then the others by environment, parents first, and
// application. A place where nothing differs and nothing is open has no proposal.
func Plan(observation promotion.Observation, decisions []promotion.Decision, now time.Time) []Proposal {
	a := newArranger(observation, decisions, now)
	for _, d := range decisions {
		a.decided(d)
	}
	for _, branch := range slices.Sorted(maps.Keys(a.groups)) {
		a.group(branch, a.groups[branch])
	}
	a.leftovers()
	slices.SortStableFunc(a.arranged, compareArranged)
	a.line()
	proposals := make([]Proposal, len(a.arranged))
	for i := range a.arranged {
		proposals[i] = *a.arranged[i].Proposal
	}
	return proposals
}

// arranger collects the proposals of a pass.
type arranger struct {
	promotion.Observation
	now      time.Time
	order    map[string]int // of environments, parents first
	looked   map[string]bool
	places   map[promotion.Target]bool // that were decided about; filled only where something is open
	groups   map[string][]member
	claimed  map[string]bool // branches that are open and have a proposal
	arranged []arranged
}

// arranged is a proposal with what it is ordered by.
type arranged struct {
	*Proposal
	rank, environment int
	branch            string
}

// member is a decision with the settings that hold for it.
type member struct {
	promotion.Decision
	settings config.Environment
}

func newArranger(observation promotion.Observation, decisions []promotion.Decision, now time.Time) *arranger {
	a := &arranger{
		Observation: observation, now: now,
		order: map[string]int{}, looked: map[string]bool{}, places: map[promotion.Target]bool{},
		groups: map[string][]member{}, claimed: map[string]bool{},
		arranged: make([]arranged, 0, len(observation.Open)),
	}
	for i, environment := range observation.Config.Order() {
		a.order[environment] = i
	}
	for _, environment := range observation.Scope() {
		a.looked[environment] = true
	}
	if len(observation.Open) > 0 {
		for _, d := range decisions {
			a.places[d.Target] = true
		}
	}
	return a
}

// decided arranges one decision, or leaves it to its group.
func (a *arranger) decided(d promotion.Decision) {
	if !differs(d) && len(a.Open) == 0 {
		return
	}
	settings := a.Settings(d.Environment, d.Application)
	m := member{d, settings}
	branch := promotion.HeadOf(settings, d.Application)
	switch {
	case settings.Land == config.LandPush:
		a.push(m)
	case settings.PullRequest.Group == config.GroupEnvironment:
		a.groups[branch] = append(a.groups[branch], m)
	default:
		a.alone(branch, m)
	}
}

// differs says whether something is wanted, or would be if it were known.
func differs(d promotion.Decision) bool {
	switch d.State {
	case promotion.Waiting, promotion.Proposed, promotion.Rejected, promotion.Reverted, promotion.Refused, promotion.Unanswered:
		return true
	default:
		return false
	}
}

// push arranges what goes straight to the branch of the environment.
func (a *arranger) push(m member) {
	if !differs(m.Decision) {
		return
	}
	p := a.proposal("", m)
	p.Step = StepWait
	if m.State == promotion.Proposed {
		blocking, blocked := promotion.FirstBlocking(p.Gates, false)
		if !blocked {
			p.Step, p.Land = StepPush, true
		} else {
			p.Reason = gated(blocking)
		}
	}
	a.add(p)
}

// alone arranges an application that has a pull request of its own.
func (a *arranger) alone(branch string, m member) {
	open := a.claim(branch)
	p := a.proposal(branch, m)
	p.Open = open
	switch {
	case open != nil && m.State == promotion.Proposed && open.Foreign == "":
		p.Step, p.Land = StepPropose, a.lands(p, m)
	case open != nil:
		p.Step, p.Reason = left(m.Decision, *open)
	case m.State == promotion.Proposed:
		p.Step = StepPropose
	case differs(m.Decision):
		p.Step = StepWait
	default:
		return
	}
	a.add(p)
}

// claim returns what is open from a branch, and notes that it has its proposal.
func (a *arranger) claim(branch string) *promotion.Open {
	if _, found := a.Open[branch]; !found {
		return nil
	}
	a.claimed[branch] = true
	open := a.Open[branch]
	return &open
}

// proposal fills what all proposals of members have.
func (a *arranger) proposal(branch string, members ...member) Proposal {
	p := Proposal{
		Environment: members[0].settings, Head: branch, Base: members[0].settings.Branch,
		Reason: members[0].Reason, Gates: members[0].Gates,
	}
	for _, m := range members {
		p.Decisions = append(p.Decisions, m.Decision)
	}
	return p
}

// lands says whether promoter may merge now: everything decided, every gate open,
// and the pull request is of exactly what is wanted.
func (a *arranger) lands(p Proposal, members ...member) bool {
	if p.Open == nil || len(p.Open.Snapshots) != len(members) {
		return false
	}
	for _, m := range members {
		if m.State != promotion.Proposed || m.settings.Land != config.LandAutomerge || !isIn(m.Decision, p.Open.Snapshots[m.Application]) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Gates, func(gate promotion.Condition) bool { return gate.Blocks(false) && !gate.RetryDue(a.now) })
}

// isIn says whether a snapshot holds all that the decision moves. What it says of
// the other components may be older than the files; the tree of the head tells.
func isIn(d promotion.Decision, snapshot promotion.Snapshot) bool {
	return !slices.ContainsFunc(d.Moves, func(m promotion.Move) bool {
		pinned, has := snapshot[m.Component]
		return !has || !promotion.SameRollout(pinned.Version, m.To)
	})
}

func (a *arranger) add(p Proposal) {
	environment, known := a.order[p.Environment.Name]
	if !known {
		environment = len(a.order)
	}
	branch := p.Head
	if branch == "" {
		branch = promotion.HeadBranch(p.Environment.Name, p.Decisions[0].Application)
	}
	a.arranged = append(a.arranged, arranged{&p, rank(&p), environment, branch})
}

// rank says what goes first in a pass. A close makes room for what comes after.
func rank(p *Proposal) int {
	const rollback, requested, closing, other = 0, 1, 2, 3
	switch {
	case p.Step == StepClose:
		return closing
	case slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return d.Reason.Rule == promotion.RuleRollback }):
		return rollback
	case slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return d.Request != nil }):
		return requested
	default:
		return other
	}
}

func compareArranged(a, b arranged) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.environment, b.environment),
		cmp.Compare(a.branch, b.branch), cmp.Compare(a.Environment.Name, b.Environment.Name),
	)
}
