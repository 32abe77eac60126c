package config

import "strings"

// pullRequestPlaceholders are what a title and a body may hold.
var pullRequestPlaceholders = []string{"environment", "application", "component", "version", "tag", "digest"}

// maxLimit is more open pull requests than anybody reads.
const maxLimit = 1000

// pullRequestLayer checks what one layer says about pull requests.
func (l *loader) pullRequestLayer(p *rawPullRequest) {
	if p == nil || p.bad {
		return
	}
	l.placeholders(p.Title, "pullRequest.title", pullRequestPlaceholders...)
	l.placeholders(p.Body, "pullRequest.body", pullRequestPlaceholders...)
	if p.Title.ok() && (strings.TrimSpace(p.Title.Value) == "" || strings.ContainsAny(p.Title.Value, "\r\n")) {
		l.failf(p.Title.Position, "leave title out for promoter's own words", "pullRequest.title must be one line with words")
	}
	if p.Limit.ok() && (p.Limit.Value < 1 || p.Limit.Value > maxLimit) {
		l.failf(p.Limit.Position, "write propose: never to open none", "pullRequest.limit must be 1 to %d", maxLimit)
	}
	for _, label := range p.Labels.Value {
		if label.ok() && strings.TrimSpace(label.Value) == "" {
			l.failf(label.Position, "remove it", "pullRequest.labels has an empty label")
		}
	}
	l.principals(p.Reviewers, "pullRequest.reviewers")
	l.principals(p.Assignees, "pullRequest.assignees")
	for _, name := range p.Assignees.Value {
		if strings.HasPrefix(name.Value, teamPrefix) {
			l.failf(name.Position, "name a person, or put the team into reviewers", "a team cannot be assigned to a pull request")
		}
	}
}
