package promotion

import "promoter/internal/config"

// HeadOf returns the branch of ours that carries an application of an environment.
func HeadOf(settings config.Environment, application string) string {
	if settings.PullRequest.Group == config.GroupEnvironment {
		return GroupBranch(settings.Name)
	}
	return HeadBranch(settings.Name, application)
}

// needsForge says whether the place lands by pull requests, which plain Git has not
// and a forge may have switched off. Nothing is proposed there, and nothing is pushed
// past them.
func (p *planner) needsForge() (Reason, bool) {
	if !p.PushOnly || p.settings.Land == config.LandPush {
		return Reason{}, false
	}
	return Reason{Rule: RuleForge, Message: "land is " + string(p.settings.Land) + ", but here are no pull requests: it is plain Git, or they are switched off on the forge"}, true
}

// open returns the pull request that stands for the place.
func (p *planner) open() (Open, bool) {
	if len(p.Open) == 0 {
		return Open{}, false
	}
	open, found := p.Open[HeadOf(p.settings, p.place.Application)]
	return open, found
}
