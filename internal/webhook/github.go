package webhook

import (
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
)

// githubEvent is what events of GitHub have in common, as far as it matters.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type githubEvent struct {
	Action     string        `json:"action"`
	Repository *githubSource `json:"repository"`
	Sender     githubPerson  `json:"sender"`
	Ref        string        `json:"ref"` // of a push
	Pull       githubPull    `json:"pull_request"`
	// Installation is that of the App whose webhook it is.
	Installation struct {
		Account githubPerson `json:"account"`
	} `json:"installation"`
	Issue struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"` // what makes an issue one
	} `json:"issue"`
	Comment struct {
		ID int64 `json:"id"`
	} `json:"comment"`
	Package         *githubPackage `json:"package"`
	RegistryPackage *githubPackage `json:"registry_package"`
}

type githubSource struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	HTMLURL       string `json:"html_url"`
	DefaultBranch string `json:"default_branch"`
}

type githubPull struct {
	Merged bool `json:"merged"`
	Base   struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

type githubPerson struct {
	HTMLURL string `json:"html_url"`
}

// githubHost is that of the public GitHub.
const githubHost = "github.com"

// host is where the event happened. GitHub Enterprise Server says it in a header.
// https://docs.github.com/en/enterprise-server@3.15/webhooks/webhook-events-and-payloads#delivery-headers
func (e githubEvent) host(r Request) string {
	where := ""
	if e.Repository != nil {
		where = e.Repository.HTMLURL
	}
	return firstOf(hostOf(where), strings.ToLower(r.Header.Get("X-GitHub-Enterprise-Host")),
		hostOf(e.Installation.Account.HTMLURL), hostOf(e.Sender.HTMLURL), githubHost)
}

// github reads the events of GitHub: of repositories, of an App, and of packages.
func github(r Request) (Delivery, error) {
	happened := r.Header.Get("X-GitHub-Event")
	if happened == "" {
		return Delivery{}, lacks("header X-GitHub-Event")
	}
	e, err := read[githubEvent](r)
	if err != nil {
		return Delivery{}, err
	}
	d, err := e.delivery(happened, e.host(r))
	d.ID = r.Header.Get("X-GitHub-Delivery")
	if d.EventType = happened; e.Action != "" {
		d.EventType += " " + e.Action
	}
	return d, err
}

func (e githubEvent) delivery(happened, host string) (Delivery, error) {
	switch happened {
	case "ping":
		return ignored(happened, "a ping")
	case "installation", "installation_repositories", "installation_target":
		return Delivery{Events: []event.Event{{Kind: event.KindInstallation, Repository: event.Repository{Host: host}}}}, nil
	case "package", "registry_package":
		return e.published(host)
	case "release":
		return e.about(event.Event{Kind: event.KindRelease}, host)
	case "issue_comment":
		if e.Issue.PullRequest == nil || e.Action != "created" {
			return ignored(happened, "only new comments on pull requests matter")
		}
		return e.about(event.Event{Kind: event.KindComment, Number: e.Issue.Number, Comment: e.Comment.ID}, host)
	case "check_run", "check_suite", "create", "delete", "deployment_status", "merge_group", "pull_request",
		"pull_request_review", "push", "repository", "status", "workflow_run", "branch_protection_rule", "repository_ruleset":
		return e.about(event.Event{Kind: event.KindRepository, Config: e.mayConfigure(happened)}, host)
	}
	return ignored(happened, "the event does not matter")
}

// mayConfigure says whether a config file may be there now that was not: a push to the
// default branch, a merge into it, or a repository that is new or otherwise another.
func (e githubEvent) mayConfigure(happened string) bool {
	if e.Repository == nil {
		return false
	}
	byDefault := e.Repository.DefaultBranch
	switch happened {
	case "push":
		return e.Ref == "refs/heads/"+byDefault
	case "pull_request":
		return e.Action == "closed" && e.Pull.Merged && e.Pull.Base.Ref == byDefault
	}
	return happened == "repository"
}

func (e githubEvent) about(hint event.Event, host string) (Delivery, error) {
	if e.Repository == nil {
		return Delivery{}, lacks("repository")
	}
	hint.Repository = event.Repository{Host: host, Name: e.Repository.FullName, ID: identity.NumericID(e.Repository.ID)}
	return Delivery{Events: []event.Event{hint}}, nil
}
