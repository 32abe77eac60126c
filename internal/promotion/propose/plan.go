// Package propose decides which branches and pull requests should exist for the decisions of
// a reconciliation: which are opened, refreshed, kept, closed, or wait, and which may land.
// Package pullrequest writes their texts, and package reconcile/act carries the proposals out.
//
// It is pure: it performs no input or output.
package propose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// Step is what a reconciliation does about one branch of promoter.
type Step string

// The steps.
const (
	StepPropose Step = "propose" // write the branch, and open or refresh its pull request
	StepPush    Step = "push"    // commit straight to the environment's branch
	StepKeep    Step = "keep"    // leave the open pull request as it is
	StepClose   Step = "close"   // close the open pull request, with the reason
	StepWait    Step = "wait"    // nothing is open, and nothing may be proposed
)

// Proposal is what should happen to one pull request, or to one commit that is
// pushed: the decisions of one application in one environment, or of all that are
// ready in a group.
type Proposal struct {
	Environment config.Environment // as it applies to the first application
	Head        string             // promoter's branch; empty: it is or will be pushed
	Base        string             // the environment's branch; empty: the default branch
	Group       bool
	// Decisions are those that it contains, or that wait for it, sorted by
	// application. None: no decision is about what is open.
	Decisions []promotion.Decision
	Open      *promotion.Open // the open pull request; nil: none
	Step      Step
	// Reason is why it is proposed, waits, is kept, or is closed.
	Reason promotion.Reason
	Gates  []promotion.Condition
	// Land is set if everything is met: it may be pushed or merged. It is never set
	// if land is pr: users merge.
	Land bool
}

// Plan returns the proposals for the decisions. Rollbacks come first, then what
// was requested, then closed pull requests, then the others by environment,
// parents first, and application. A pull request that has to lose an application before
// another one is opened about it comes before all of them. A target in which nothing differs
// and nothing is open has no proposal.
func Plan(observation promotion.Observation, decisions []promotion.Decision, now time.Time) []Proposal {
	var proposals []Proposal
	groups := map[string]sharing{}
	claimed := map[string]bool{} // open branches that decisions are about
	openOf := func(branch string) *promotion.Open {
		open, found := observation.Open[branch]
		if !found {
			return nil
		}
		claimed[branch] = true
		return &open
	}

	open := openTargets(observation.Open)
	for _, d := range decisions {
		if !differs(d) && !open[d.Target] && !open[promotion.Target{Environment: d.Environment, Application: state.All}] {
			continue
		}
		settings := observation.Settings(d.Environment, d.Application)
		own, shared := promotion.HeadBranch(settings.Name, d.Application), promotion.GroupBranch(settings.Name)
		m := member{d, settings}
		grouped := settings.PullRequest.Group == setting.GroupEnvironment
		switch {
		case settings.Land == setting.LandPush:
			if differs(d) {
				proposals = append(proposals, push(m))
			}
		case grouped && !d.Urgent && observation.Open[own].Foreign == "":
			group := groups[shared]
			group.members = append(group.members, m)
			groups[shared] = group
		default:
			if p, needed := single(own, m, openOf(own), now); needed {
				proposals = append(proposals, p)
			}
			if grouped && Carries(observation.Open, shared, d.Target) {
				group := groups[shared]
				group.left = append(group.left, m)
				groups[shared] = group
			}
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(groups)) {
		if p, needed := group(branch, groups[branch], openOf(branch), now); needed {
			proposals = append(proposals, p)
		}
	}
	proposals = append(proposals, abandoned(observation, decisions, claimed)...)

	first := makeRoom(proposals, observation.Open)
	sortProposals(proposals, observation.Config.Order(), first)
	limitOpen(proposals, observation.Open)
	return proposals
}

// openTargets returns the targets of the branches that have an open pull request; for the shared
// branch of an environment, one for all of its applications.
func openTargets(open map[string]promotion.Open) map[promotion.Target]bool {
	targets := make(map[promotion.Target]bool, len(open))
	for branch := range open {
		if target, ours := promotion.ParseHead(branch); ours {
			targets[target] = true
		}
	}
	return targets
}

// member is a decision with the settings that apply to it.
type member struct {
	promotion.Decision
	settings config.Environment
}

// differs reports whether something is wanted, or would be if it were known.
func differs(d promotion.Decision) bool {
	switch d.State {
	case promotion.Waiting, promotion.Proposed, promotion.Rejected, promotion.Reverted, promotion.Refused, promotion.Unanswered:
		return true
	default:
		return false
	}
}

// newProposal fills in what all proposals of members have.
func newProposal(branch string, members ...member) Proposal {
	p := Proposal{
		Environment: members[0].settings, Head: branch, Base: members[0].settings.Branch,
		Reason: members[0].Reason, Gates: members[0].Gates, Step: StepWait,
	}
	for _, m := range members {
		p.Decisions = append(p.Decisions, m.Decision)
	}
	return p
}

// push is the proposal of an application that is pushed to the branch of the
// environment.
func push(m member) Proposal {
	p := newProposal("", m)
	if m.State != promotion.Proposed {
		return p
	}
	if blocking, blocked := promotion.FirstBlocking(p.Gates, false); blocked {
		p.Reason = promotion.BlockedBy(blocking)
		p.Reason.Rule = promotion.RuleGate
		return p
	}
	p.Step, p.Land = StepPush, true
	return p
}

// single is the proposal of an application with a pull request of its own; false
// if none is needed.
func single(branch string, m member, open *promotion.Open, now time.Time) (Proposal, bool) {
	p := newProposal(branch, m)
	p.Open = open
	switch {
	case open != nil && m.State == promotion.Proposed && open.Foreign == "":
		p.Step, p.Land = StepPropose, lands(p, now, m)
	case open != nil:
		p.Step, p.Reason = keepOrClose(m.Decision, *open)
	case m.State == promotion.Proposed:
		p.Step = StepPropose
	default:
		return p, differs(m.Decision)
	}
	return p, true
}

// lands reports whether promoter may merge now: everything is proposed, all gates
// passed, and the pull request has exactly what is wanted.
func lands(p Proposal, now time.Time, members ...member) bool {
	if p.Open == nil || len(p.Open.Snapshots) != len(members) {
		return false
	}
	for _, m := range members {
		ready := m.State == promotion.Proposed && m.settings.Land == setting.LandAutomerge
		if !ready || !contains(p.Open.Snapshots[m.Application], m.Moves) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Gates, func(gate promotion.Condition) bool { return gate.Blocks(false) && !gate.RetryDue(now) })
}

// MayWait reports whether newer versions would be written to the open pull request, and would wait instead if it had a
// required check that has not finished.
func (p Proposal) MayWait(now time.Time) bool {
	settings := p.Environment
	if p.Open == nil || settings.Newer == setting.NewerQueue || !p.Open.IsYoung(now, settings.PullRequest.WaitForChecks) {
		return false
	}
	return slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return !contains(p.Open.Snapshots[d.Application], d.Moves) })
}

// contains reports whether a snapshot has all moves. Its other components may be
// older than the files; the tree of the head shows that.
func contains(snapshot promotion.Snapshot, moves []promotion.Move) bool {
	return !slices.ContainsFunc(moves, func(m promotion.Move) bool {
		pinned, found := snapshot[m.Component]
		return !found || !promotion.SameRollout(pinned.Version, m.To)
	})
}

// sortProposals sorts proposals as Plan describes, with those of some branches first. A closed
// pull request makes room for new ones.
func sortProposals(proposals []Proposal, order []string, first map[string]bool) {
	environments := map[string]int{}
	for i, environment := range order {
		environments[environment] = i
	}
	rank := func(p Proposal) int {
		is := func(match func(promotion.Decision) bool) bool { return slices.ContainsFunc(p.Decisions, match) }
		switch {
		case first[p.Head]:
			return 0
		case p.Step == StepClose:
			return 3
		case is(promotion.Decision.IsRollback):
			return 1
		case is(func(d promotion.Decision) bool { return d.Request != nil }):
			return 2
		default:
			return 4
		}
	}
	environment := func(p Proposal) int {
		if i, known := environments[p.Environment.Name]; known {
			return i
		}
		return len(order)
	}
	branch := func(p Proposal) string {
		if p.Head == "" {
			return promotion.HeadBranch(p.Environment.Name, p.Decisions[0].Application)
		}
		return p.Head
	}
	slices.SortStableFunc(proposals, func(a, b Proposal) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)), cmp.Compare(environment(a), environment(b)),
			cmp.Compare(branch(a), branch(b)), cmp.Compare(a.Environment.Name, b.Environment.Name),
		)
	})
}

// limitOpen applies the limit of pull requests that an environment may have open.
// Those that are open count first, including those of users; new ones wait in
// order. What is urgent neither waits nor counts.
func limitOpen(proposals []Proposal, open map[string]promotion.Open) {
	used := map[string]int{}
	for branch := range open {
		if target, ours := promotion.ParseHead(branch); ours {
			used[target.Environment]++
		}
	}
	for i := range proposals {
		p := &proposals[i]
		if p.Step == StepClose || p.Open != nil && p.isUrgent() {
			used[p.Environment.Name]--
		}
	}
	waiting := map[string][]*Proposal{}
	for i := range proposals {
		p := &proposals[i]
		if p.Step != StepPropose || p.Open != nil || p.isUrgent() {
			continue
		}
		environment := p.Environment.Name
		if used[environment] < p.Environment.PullRequest.Limit {
			used[environment]++
		} else {
			waiting[environment] = append(waiting[environment], p)
		}
	}
	for environment, queue := range waiting {
		for i, p := range queue {
			why := promotion.Reasonf(promotion.RuleLimit, "%s in the queue: %d of %d pull requests are open",
				ordinal(i+1), used[environment], p.Environment.PullRequest.Limit)
			p.wait(why)
		}
	}
}

// isUrgent reports whether the proposal is outside of the limit and the group of its environment.
func (p *Proposal) isUrgent() bool {
	return !p.Group && len(p.Decisions) == 1 && p.Decisions[0].Urgent
}

// wait lets a proposal wait for a reason that is no matter of its decisions.
func (p *Proposal) wait(why promotion.Reason) {
	p.Step, p.Reason = StepWait, why
	p.Land = false
	if p.Open != nil {
		p.Step = StepKeep
	}
	p.Decisions = slices.Clone(p.Decisions)
	for i := range p.Decisions {
		d := &p.Decisions[i]
		d.State, d.Reason = promotion.Waiting, why
	}
}

// ordinal returns "1st", "2nd", "3rd", "4th", and so on.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// Queued returns the decisions as users see them: those that wait for the limit of open
// pull requests have their position in the queue, and those that wait for another pull request have that. They
// stay proposed for everything that depends on them.
func Queued(decisions []promotion.Decision, proposals []Proposal) []promotion.Decision {
	queued := map[promotion.Target]promotion.Decision{}
	for _, p := range proposals {
		for _, d := range p.Decisions {
			if d.State == promotion.Waiting && (d.Reason.Rule == promotion.RuleLimit || d.Reason.Rule == promotion.RuleForeign) {
				queued[d.Target] = d
			}
		}
	}
	if len(queued) == 0 {
		return decisions
	}
	shown := slices.Clone(decisions)
	for i, d := range shown {
		if waiting, found := queued[d.Target]; found {
			shown[i] = waiting
		}
	}
	return shown
}

// Opened returns a proposal as it is once its pull request is open:
// nothing was reported on its gates yet. What is written on opening is then what
// the next reconciliation would write, and is not written again.
func Opened(p Proposal) Proposal {
	p.Gates = promotion.OpenedGates(p.Gates, p.Environment.Gates.Approvals)
	return p
}

// Ready reports whether a proposal only has to be opened to land: then another
// reconciliation may land it right away.
func Ready(p Proposal) bool {
	_, blocked := promotion.FirstBlocking(p.Gates, false)
	return !blocked && p.Step == StepPropose && p.Environment.Land == setting.LandAutomerge
}

// isGroup reports whether a target is the shared branch of an environment.
func isGroup(target promotion.Target) bool { return target.Application == state.All }
