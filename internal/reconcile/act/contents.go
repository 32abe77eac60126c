package act

import (
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
)

// contents are the applications that pull requests are about by now, by branch. Of those that are not among
// them, the observation knows.
type contents map[string]map[string]bool

// set notes what the pull request of a branch is about.
func (c contents) set(branch string, decisions []promotion.Decision) {
	c[branch] = map[string]bool{}
	for _, d := range decisions {
		c[branch][d.Application] = true
	}
}

// elsewhere returns the number of the open pull request that is about a target of a proposal too; 0: there is none.
// The plan carries out first what gives the target up, which may have failed.
func (c contents) elsewhere(p propose.Proposal, open map[string]promotion.Open) (number int, target promotion.Target) {
	for _, d := range p.Decisions {
		branch := p.Elsewhere(d)
		about, known := c[branch]
		if known && about[d.Application] || !known && propose.Carries(open, branch, d.Target) {
			return open[branch].Number, d.Target
		}
	}
	return 0, promotion.Target{}
}
