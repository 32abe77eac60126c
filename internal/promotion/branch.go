package promotion

import (
	"strings"

	"promoter/internal/config"
	"promoter/internal/state"
)

// HeadPrefix is the prefix of every head branch of promoter. Their names always
// have three parts, so that none is a folder of another. They must not change.
const HeadPrefix = "promoter/"

// HeadBranch returns the head branch of an application in an environment.
func HeadBranch(environment, application string) string {
	return HeadPrefix + environment + "/" + application
}

// GroupBranch returns the head branch of an environment whose applications share
// one pull request.
func GroupBranch(environment string) string { return HeadBranch(environment, state.All) }

// HeadOf returns the head branch of an application, as its environment groups pull
// requests.
func HeadOf(settings config.Environment, application string) string {
	if settings.PullRequest.Group == config.GroupEnvironment {
		return GroupBranch(settings.Name)
	}
	return HeadBranch(settings.Name, application)
}

// ParseHead parses the name of a head branch; the application of a group is
// state.All. It is false for every other branch, such as the state branch.
func ParseHead(branch string) (Target, bool) {
	rest, ours := strings.CutPrefix(branch, HeadPrefix)
	environment, application, three := strings.Cut(rest, "/")
	if !ours || !three || !config.ValidName(environment) {
		return Target{}, false
	}
	if !config.ValidName(application) && application != state.All {
		return Target{}, false
	}
	return Target{Environment: environment, Application: application}, true
}
