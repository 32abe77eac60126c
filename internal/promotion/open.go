package promotion

import "promoter/internal/config"

// head returns the branch of ours that carries an application of an environment.
func head(settings config.Environment, application string) string {
	if settings.PullRequest.Group == config.GroupEnvironment {
		return GroupBranch(settings.Name)
	}
	return HeadBranch(settings.Name, application)
}

// open returns the pull request that stands for the place.
func (p *planner) open() (Open, bool) {
	if len(p.Open) == 0 {
		return Open{}, false
	}
	open, found := p.Open[head(p.settings, p.place.Application)]
	return open, found
}
