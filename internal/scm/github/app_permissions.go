package github

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Permission is one permission of a GitHub App.
type Permission struct {
	Name     string // in the API
	Title    string // on the App's page
	Access   string // read or write, which includes read
	For      string // purpose
	Optional string // condition under which it is needed; empty: always
	// OnRequest omits the permission from Apps that promoter creates, unless a user
	// requests it: it grants access that few need.
	OnRequest bool
	// EventOnly marks a permission that is only needed to receive events: no token
	// requests it.
	EventOnly bool
}

// Permissions returns the permissions that a GitHub App needs. Those that are not
// optional are checked before anything else. A test compares docs/github.md with this
// list.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func Permissions() []Permission {
	return []Permission{
		{
			Name: "metadata", Title: "Metadata", Access: "read",
			For: "finding repositories; a reviewer's permission; branch rules. GitHub always adds it",
		},
		{Name: "contents", Title: "Contents", Access: "write", For: "fetching, pushing, merging; commits between two versions; releases"},
		{
			Name: "pull_requests", Title: "Pull requests", Access: "write",
			For: "pull requests, labels, reviewers, assignees, comments, reviews",
		},
		{Name: "statuses", Title: "Commit statuses", Access: "write", For: "the status `promoter`; statuses that a gate waits for"},
		{Name: "checks", Title: "Checks", Access: "read", For: "check runs that a gate waits for, including GitHub Actions"},
		{
			Name: "issues", Title: "Issues", Access: "write",
			For:      "creating labels; comment events; reactions to commands",
			Optional: "a config names labels that do not exist yet, or users write commands in comments",
		},
		{
			Name: "members", Title: "Members (organization)", Access: "read",
			For:      "members of a team; reviews requested from a team",
			Optional: "a rule or the reviewers of a config name a team",
		},
		{
			Name: "packages", Title: "Packages", Access: "read",
			For:      "events of images pushed to GHCR",
			Optional: "such images are followed and have no webhook of their own", EventOnly: true,
		},
		{
			Name: "administration", Title: "Administration", Access: "read",
			For:      "all requirements of classic branch protection",
			Optional: "promoter must know them before it tries to merge; rulesets do not need it", OnRequest: true,
		},
		{
			Name: "deployments", Title: "Deployments", Access: "read",
			For:      "deployments as a source of health",
			Optional: "a config sets `health.deployment`", OnRequest: true,
		},
		{
			Name: "checks", Title: "Checks", Access: "write",
			For:      "the check `promoter/rendered`",
			Optional: "a config sets `pullRequest.rendered`, and differences are too long for a pull request", OnRequest: true,
		},
		{
			Name: "workflows", Title: "Workflows", Access: "write",
			For:      "pushing changes to workflows",
			Optional: "environments contain files below `.github/workflows`, which are excluded by default", OnRequest: true,
		},
	}
}

// String returns the name of the permission on the App's page.
func (p Permission) String() string {
	if p.Access == "write" {
		return p.Title + ": read and write"
	}
	return p.Title + ": read-only"
}

// Permitted is a set of permissions in GitHub's form: name to read, write or admin.
type Permitted map[string]string

// Grants reports whether the set includes a permission.
func (p Permitted) Grants(wanted Permission) bool {
	return accessRank(p[wanted.Name]) >= accessRank(wanted.Access)
}

func accessRank(access string) int {
	return slices.Index([]string{"read", "write", "admin"}, access)
}

// lacking lists required permissions that are not granted.
func (p Permitted) lacking() []Permission {
	return slices.DeleteFunc(Permissions(), func(wanted Permission) bool {
		return wanted.Optional != "" || p.Grants(wanted)
	})
}

// least returns the granted permissions of the table, each with no more access than
// needed: a token has no other permissions, whatever else the App is used for.
func (p Permitted) least() Permitted {
	wanted := Permitted{}
	for _, permission := range Permissions() {
		if p.Grants(permission) && !permission.EventOnly {
			wanted[permission.Name] = permission.Access
		}
	}
	return wanted
}

// listed formats permissions for a sentence.
func listed(permissions []Permission) string {
	var names []string
	for _, p := range permissions {
		names = append(names, p.String())
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

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
		{Name: "push", Permission: "contents", For: "commits on a branch: the config, files, a landed promotion"},
		{Name: "create", Permission: "contents", For: "a branch was created"},
		{Name: "delete", Permission: "contents", For: "a branch was deleted"},
		{Name: "release", Permission: "contents", For: "a release was published"},
		{Name: "pull_request", Permission: "pull_requests", For: "a pull request was merged, closed, opened or labeled"},
		{Name: "pull_request_review", Permission: "pull_requests", For: "a review, for approval gates"},
		{Name: "pull_request_review_thread", Permission: "pull_requests", For: "a conversation was resolved, for a refused merge"},
		{Name: "check_run", Permission: "checks", For: "a check changed, for check gates"},
		{Name: "check_suite", Permission: "checks", For: "a check changed, for check gates"},
		{Name: "status", Permission: "statuses", For: "a status changed, for check gates"},
		{Name: "issue_comment", Permission: "issues", For: "a user commented on a pull request"},
		{Name: "repository", Permission: "metadata", For: "a repository was renamed, archived, unarchived, or removed"},
		// The event package is newer, but only this one is available to Apps.
		// https://github.com/google/go-github/issues/3544
		{Name: "registry_package", Permission: "packages", For: "an image was pushed to GHCR"},
		{Name: "deployment_status", Permission: "deployments", For: "the status of a deployment changed, for health"},
		{Name: "branch_protection_rule", Permission: "administration", For: "classic branch protection was changed"},
		{Name: "repository_ruleset", Permission: "administration", For: "a ruleset was changed"},
	}
}

// Missing lists the permissions and events that promoter needs and that an App does not
// request, whatever its installations accepted.
type Missing struct {
	App       string       // its slug
	At        string       // page on which its owner adds what is missing
	Always    []Permission // always required
	Sometimes []Permission // required in some cases, see their Optional
	Events    []string     // that its permissions allow
}

// Missing compares the App's permissions and events with those that promoter needs.
func (a *App) Missing(ctx context.Context) (Missing, error) {
	app, err := a.ask(ctx)
	if err != nil {
		return Missing{}, err
	}
	missing := Missing{App: app.Slug, At: a.permissionsURL(app)}
	var held []Permission // any access is enough to subscribe
	for _, p := range Permissions() {
		if accessRank(app.Permissions[p.Name]) >= 0 {
			held = append(held, p)
		}
		switch {
		case app.Permissions.Grants(p) || p.OnRequest:
		case p.Optional != "":
			missing.Sometimes = append(missing.Sometimes, p)
		default:
			missing.Always = append(missing.Always, p)
		}
	}
	for _, event := range EventsOf(held) {
		if !slices.Contains(app.Events, event) {
			missing.Events = append(missing.Events, event)
		}
	}
	return missing, nil
}
