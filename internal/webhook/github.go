package webhook

import (
	"promoter/internal/event"
)

// githubEvent is what events of GitHub have in common, as far as it matters.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type githubEvent struct {
	Action     string        `json:"action"`
	Repository *githubSource `json:"repository"`
	Sender     struct {
		HTMLURL string `json:"html_url"`
	} `json:"sender"`
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
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	HTMLURL  string `json:"html_url"`
}

func (s *githubSource) repository() event.Repository {
	return event.Repository{Host: hostOf(s.HTMLURL), Name: s.FullName, ID: s.ID}
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
	d, err := e.delivery(happened)
	d.ID = r.Header.Get("X-GitHub-Delivery")
	if d.Event = happened; e.Action != "" {
		d.Event += " " + e.Action
	}
	return d, err
}

func (e githubEvent) delivery(happened string) (Delivery, error) {
	switch happened {
	case "ping":
		return ignored(happened, "a ping")
	case "installation", "installation_repositories", "installation_target":
		where := event.Repository{Host: hostOf(e.Sender.HTMLURL)}
		return Delivery{Hints: []event.Hint{{Kind: event.KindInstallation, Repository: where}}}, nil
	case "package", "registry_package":
		return e.published()
	case "release":
		return e.about(event.Hint{Kind: event.KindRelease})
	case "issue_comment":
		if e.Issue.PullRequest == nil || e.Action != "created" {
			return ignored(happened, "only new comments on pull requests matter")
		}
		return e.about(event.Hint{Kind: event.KindComment, Number: e.Issue.Number, Comment: e.Comment.ID})
	case "check_run", "check_suite", "create", "delete", "deployment_status", "merge_group", "pull_request",
		"pull_request_review", "push", "repository", "status", "workflow_run", "branch_protection_rule", "repository_ruleset":
		return e.about(event.Hint{Kind: event.KindRepository})
	}
	return ignored(happened, "the event does not matter")
}

func (e githubEvent) about(hint event.Hint) (Delivery, error) {
	if e.Repository == nil {
		return Delivery{}, lacks("repository")
	}
	hint.Repository = e.Repository.repository()
	return Delivery{Hints: []event.Hint{hint}}, nil
}
