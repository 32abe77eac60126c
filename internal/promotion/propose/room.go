package propose

import (
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// This file keeps two open pull requests from being about the same application of an environment:
// one of its own and that of its group.

// Carries reports whether the open pull request of a branch is about a target. The content of one
// that a user took over may be unknown: then it counts as about every application of its group.
func Carries(open map[string]promotion.Open, branch string, target promotion.Target) bool {
	pr, found := open[branch]
	of, ours := promotion.ParseHead(branch)
	if !found || !ours || of.Environment != target.Environment {
		return false
	}
	if of.Application != state.All {
		return of.Application == target.Application
	}
	_, within := pr.Snapshots[target.Application]
	return within || len(pr.Snapshots) == 0
}

// Elsewhere returns the other branch whose pull request could be about a decision of the proposal too.
func (p *Proposal) Elsewhere(d promotion.Decision) string {
	if p.Group {
		return promotion.HeadBranch(d.Environment, d.Application)
	}
	return promotion.GroupBranch(d.Environment)
}

// makeRoom lets a proposal wait as long as another open pull request is about one of its targets,
// and stays so. It returns the branches whose proposals have to be carried out first, because they
// give up such a target.
func makeRoom(proposals []Proposal, open map[string]promotion.Open) (first map[string]bool) {
	first = map[string]bool{}
	if len(open) == 0 {
		return first
	}
	byHead := map[string]*Proposal{}
	for i := range proposals {
		byHead[proposals[i].Head] = &proposals[i]
	}
	for i := range proposals {
		p := &proposals[i]
		if p.Step != StepPropose {
			continue
		}
		for _, d := range p.Decisions {
			branch := p.Elsewhere(d)
			if !Carries(open, branch, d.Target) {
				continue
			}
			if other := byHead[branch]; other != nil && other.givesUp(d.Target) {
				first[branch] = true
				continue
			}
			p.wait(foreignElsewhere(open[branch], d))
			break
		}
	}
	return first
}

// givesUp reports whether the pull request of a proposal is no longer about a target once it is
// carried out.
func (p *Proposal) givesUp(target promotion.Target) bool {
	return p.Step == StepClose || p.Step == StepPropose &&
		!slices.ContainsFunc(p.Decisions, func(d promotion.Decision) bool { return d.Target == target })
}

// foreignElsewhere is the reason of a target that has an open pull request which promoter must not
// touch, or cannot.
func foreignElsewhere(open promotion.Open, d promotion.Decision) promotion.Reason {
	why := "it is not updated now"
	if open.Foreign != "" {
		why = open.Foreign
	}
	return promotion.Reasonf(promotion.RuleForeign, "waiting: pull request #%d is about %s too, and %s", open.Number, d.Name(), why)
}
