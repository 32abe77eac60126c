package pullrequest

import (
	"fmt"
	"slices"

	"promoter/internal/promotion"
)

// line lets as many new pull requests be opened as an environment may have. Those
// that are open count first, also one that a person works on; the others wait in
// the order of the pass.
func (a *arranger) line() {
	free := map[string]int{}
	waiting := map[string][]*Proposal{}
	taken := a.taken()
	for i := range a.arranged {
		p := a.arranged[i].Proposal
		if p.Step != StepPropose || p.Open != nil {
			continue
		}
		environment := p.Environment.Name
		if _, counted := free[environment]; !counted {
			free[environment] = p.Environment.PullRequest.Limit - taken[environment]
		}
		if free[environment] > 0 {
			free[environment]--
		} else {
			waiting[environment] = append(waiting[environment], p)
		}
	}
	for _, line := range waiting {
		for i, p := range line {
			p.wait(promotion.Reason{Rule: promotion.RuleLimit, Message: fmt.Sprintf("waiting in line: place %d of %d", i+1, len(line))})
		}
	}
}

// taken counts the pull requests of each environment that stay open.
func (a *arranger) taken() map[string]int {
	taken := map[string]int{}
	for branch := range a.Open {
		if target, ours := promotion.ParseHead(branch); ours {
			taken[target.Environment]++
		}
	}
	for _, p := range a.arranged {
		if p.Step == StepClose {
			taken[p.Environment.Name]--
		}
	}
	return taken
}

// wait makes a proposal, and what it carries, wait. The decisions that it was
// made of stay as they are.
func (p *Proposal) wait(why promotion.Reason) {
	p.Step, p.Reason, p.Land = StepWait, why, false
	p.Decisions = slices.Clone(p.Decisions)
	for i := range p.Decisions {
		p.Decisions[i].State, p.Decisions[i].Reason = promotion.Waiting, why
	}
}
