package setting

import (
	"strings"
	"time"

	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// Group is what shares one pull request.
type Group string

// The values of pullRequest.group.
const (
	GroupApplication Group = "application"
	GroupEnvironment Group = "environment"
)

// DefaultLimit is how many pull requests may be open in an environment.
const DefaultLimit = 20

// DefaultWaitForChecks is how long a newer snapshot waits for the required checks of an open pull request.
const DefaultWaitForChecks = 30 * time.Minute

// PullRequest is the content of pull requests, and how they are kept.
type PullRequest struct {
	Title, Body                  string // empty: the default
	Labels, Reviewers, Assignees []string
	Draft                        bool
	Group                        Group
	Limit                        int // open pull requests in the environment
	Rendered                     bool
	WaitForChecks                time.Duration // after a push, see NewerRefresh; 0: not at all
}

// maxLimit is more open pull requests than a team can review.
const maxLimit = 1000

// rawPullRequest is the content and the grouping of pull requests.
type rawPullRequest struct {
	strictyaml.Origin
	// Title, in one line. Placeholders: `{environment}`, `{application}`, `{component}`, `{version}`, `{tag}`,
	// `{digest}`. Default: a title that names the change.
	Title strictyaml.Located[string] `yaml:"title"`
	// Text above the description that promoter writes. It has the placeholders of `title`.
	Body strictyaml.Located[string] `yaml:"body"`
	// Labels of the pull request.
	Labels strictyaml.List `yaml:"labels"`
	// Requested reviewers: `NAME` or `team:GROUP/NAME`.
	Reviewers strictyaml.List `yaml:"reviewers"`
	// Assignees of the pull request, by name.
	Assignees strictyaml.List `yaml:"assignees"`
	// Open the pull request as a draft. Not with `land: automerge`, because drafts are never merged. Default: `false`.
	Draft strictyaml.Located[bool] `yaml:"draft"`
	// What shares a pull request: the changes of one application, or of all applications in the environment that
	// are ready. See docs/configuration.md#pull-requests. Default: `application`.
	Group strictyaml.Located[string] `yaml:"group" values:"application environment"`
	// Maximum number of open pull requests in the environment, 1 to 1,000. Promotions above it wait, except
	// emergencies: see docs/pull-requests.md#emergencies. An application cannot override it. Default: `20`.
	Limit strictyaml.Located[int] `yaml:"limit"`
	// How long after the last push to a pull request a newer snapshot waits while required checks still run there, so
	// that releases that are faster than the checks land. `0s` never waits. See docs/configuration.md#newer. Default: `30m`.
	WaitForChecks strictyaml.Located[time.Duration] `yaml:"waitForChecks"`
	// Show what changes in the manifests that kustomize and Helm render. The server file must allow it: see
	// docs/configuration.md#rendered-manifests. Default: `false`.
	Rendered strictyaml.Located[bool] `yaml:"rendered"`
}

// checkPullRequest validates the pull request settings of one layer.
func checkPullRequest(report *strictyaml.Report, p *rawPullRequest) {
	if p == nil || p.Invalid {
		return
	}
	placeholders := []string{"environment", "application", "component", "version", "tag", "digest"}
	field.CheckPlaceholders(report, p.Title, "pullRequest.title", placeholders...)
	field.CheckPlaceholders(report, p.Body, "pullRequest.body", placeholders...)
	if p.Title.Valid() && (strings.TrimSpace(p.Title.Value) == "" || strings.ContainsAny(p.Title.Value, "\r\n")) {
		report.Errorf(p.Title.Position, "remove title for the default", "pullRequest.title must be one line that is not empty")
	}
	if p.Limit.Valid() && (p.Limit.Value < 1 || p.Limit.Value > maxLimit) {
		report.Errorf(p.Limit.Position, "write propose: never to open none", "pullRequest.limit must be 1 to %d", maxLimit)
	}
	for _, label := range p.Labels.Items {
		report.ErrorIf(label.Valid() && strings.TrimSpace(label.Value) == "", label.Position, "remove it",
			"pullRequest.labels has an empty label")
	}
	field.CheckUsers(report, p.Reviewers, "pullRequest.reviewers")
	field.CheckUsers(report, p.Assignees, "pullRequest.assignees")
	for _, name := range p.Assignees.Items {
		report.ErrorIf(strings.HasPrefix(name.Value, field.TeamPrefix), name.Position,
			"name a user, or add the team to reviewers", "a team cannot be assigned to a pull request")
	}
}

// checkPullRequestOverride refuses what cannot differ for an application.
func checkPullRequestOverride(report *strictyaml.Report, p *rawPullRequest) {
	if p != nil && p.Limit.IsSet() {
		report.Errorf(p.Limit.Position, "set limit in environments",
			"pullRequest.limit counts all applications of an environment, so it cannot differ for one")
	}
}

func (p *rawPullRequest) pullRequest() PullRequest {
	if p == nil {
		p = &rawPullRequest{}
	}
	return PullRequest{
		Title: p.Title.Value, Body: p.Body.Value, Draft: p.Draft.Value,
		Labels: p.Labels.Strings(), Reviewers: p.Reviewers.Strings(), Assignees: p.Assignees.Strings(),
		Group: Group(p.Group.Or(string(GroupApplication))), Limit: p.Limit.Or(DefaultLimit), Rendered: p.Rendered.Value,
		WaitForChecks: p.WaitForChecks.Or(DefaultWaitForChecks),
	}
}
