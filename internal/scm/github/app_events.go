package github

// Event is one webhook event of a GitHub App.
type Event struct {
	Name       string // value of the header X-GitHub-Event
	Permission string // permission required to subscribe
	For        string // purpose
}

// Events returns the events that a GitHub App subscribes to: those that promoter
// handles, and that every App may have with its permissions. GitHub sends
// installation events to every App and rejects subscriptions to them. A test compares
// docs/github.md with this list.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
func Events() []Event {
	return []Event{
		{Name: "push", Permission: "contents", For: "the config and the files changed; something landed"},
		{Name: "create", Permission: "contents", For: "a branch came"},
		{Name: "delete", Permission: "contents", For: "a branch went"},
		{Name: "release", Permission: "contents", For: "a component that follows releases has a new one"},
		{Name: "pull_request", Permission: "pull_requests", For: "one was merged, closed, opened or labeled"},
		{Name: "pull_request_review", Permission: "pull_requests", For: "a gate waits for approvals"},
		{Name: "check_run", Permission: "checks", For: "a gate waits for checks"},
		{Name: "check_suite", Permission: "checks", For: "a gate waits for checks"},
		{Name: "status", Permission: "statuses", For: "a gate waits for statuses"},
		{Name: "issue_comment", Permission: "issues", For: "somebody wrote below a pull request"},
		{Name: "repository", Permission: "metadata", For: "a repository was renamed, archived or removed"},
		// The event package is newer, but only this one is available to Apps.
		// https://github.com/google/go-github/issues/3544
		{Name: "registry_package", Permission: "packages", For: "an image was pushed to GHCR"},
		{Name: "branch_protection_rule", Permission: "administration", For: "what the classic protection of a branch asks"},
		{Name: "repository_ruleset", Permission: "administration", For: "what rulesets ask"},
	}
}
