package forges

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
	"promoter/internal/webhook/payload"
)

// githubEvent has the relevant fields of GitHub events.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type githubEvent struct {
	Action     string        `json:"action"`
	Repository *githubSource `json:"repository"`
	Sender     githubPerson  `json:"sender"`
	Ref        string        `json:"ref"` // of a push
	Pull       githubPull    `json:"pull_request"`
	// Installation belongs to the App whose webhook this is.
	Installation struct {
		Account githubPerson `json:"account"`
	} `json:"installation"`
	Issue struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"` // present if the issue is a pull request
	} `json:"issue"`
	Comment         newComment     `json:"comment"`
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

// githubHost is the host of the public GitHub.
const githubHost = "github.com"

// host returns the host of the forge. GitHub Enterprise Server sends it in a header.
// https://docs.github.com/en/enterprise-server@3.15/webhooks/webhook-events-and-payloads#delivery-headers
func (e githubEvent) host(r payload.Request) string {
	page := ""
	if e.Repository != nil {
		page = e.Repository.HTMLURL
	}
	enterprise := r.Header.Get("X-GitHub-Enterprise-Host")
	return payload.HostOf(page, "//"+enterprise, e.Installation.Account.HTMLURL, e.Sender.HTMLURL, "//"+githubHost)
}

// GitHub decodes the events of GitHub: of repositories, of an App, and of packages.
func GitHub(r payload.Request) (payload.Delivery, error) {
	name := r.Header.Get("X-GitHub-Event")
	if name == "" {
		return payload.Delivery{}, payload.Missing("header X-GitHub-Event")
	}
	e, err := payload.Read[githubEvent](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	d, err := e.delivery(name, e.host(r))
	d.ID = r.Header.Get("X-GitHub-Delivery")
	d.EventType = strings.TrimSpace(name + " " + e.Action)
	return d, err
}

func (e githubEvent) delivery(name, host string) (payload.Delivery, error) {
	switch name {
	case "ping":
		return payload.Ignored(name, "a ping")
	case "repository_ruleset":
		if e.Repository == nil {
			return payload.Ignored(name, "a ruleset of the organization belongs to no repository")
		}
		return e.about(event.Event{Kind: event.KindRepository}, host)
	case "installation", "installation_repositories", "installation_target":
		return payload.Delivery{Events: []event.Event{{Kind: event.KindInstallation, Repository: event.Repository{Host: host}}}}, nil
	case "package", "package_v2", "registry_package":
		return e.published(host)
	case "release":
		return e.about(event.Event{Kind: event.KindRelease}, host)
	case "issue_comment":
		if e.Issue.PullRequest == nil || e.Action != "created" {
			return payload.Ignored(name, "only new comments on pull requests matter")
		}
		return e.about(e.Comment.event(e.Issue.Number), host)
	}
	if !slices.Contains(aboutRepositories, name) {
		return payload.Ignored(name, "the event does not matter")
	}
	return e.about(event.Event{Kind: event.KindRepository, Config: e.mayConfigure(name)}, host)
}

// aboutRepositories are the events after which a repository is reconciled, whatever they are about in it.
var aboutRepositories = []string{
	"branch_protection_rule", "check_run", "check_suite", "create", "delete", "deployment_status", "merge_group", "pull_request",
	"pull_request_review", "pull_request_review_thread", "push", "repository", "status", "workflow_run",
}

// mayConfigure reports whether the event may have added a config file: a push to the
// default branch, a merge into it, or a new or changed repository.
func (e githubEvent) mayConfigure(name string) bool {
	if e.Repository == nil {
		return false
	}
	byDefault := e.Repository.DefaultBranch
	switch name {
	case "push":
		return e.Ref == "refs/heads/"+byDefault
	case "pull_request":
		return e.Action == "closed" && e.Pull.Merged && e.Pull.Base.Ref == byDefault
	}
	return name == "repository"
}

func (e githubEvent) about(found event.Event, host string) (payload.Delivery, error) {
	if e.Repository == nil {
		return payload.Delivery{}, payload.Missing("repository")
	}
	found.Repository = event.Repository{Host: host, Name: e.Repository.FullName, ID: identity.NumericID(e.Repository.ID)}
	return payload.Delivery{Events: []event.Event{found}}, nil
}

// githubPackage is a published package: `package` in the events of an organization,
// `registry_package` in those of a repository. The container registry also reports one as
// package_v2 with the action create, without its type and its URL.
// https://github.com/keel-hq/keel/blob/master/pkg/http/github_webhook_trigger_test.go
type githubPackage struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Type      string `json:"package_type"` // CONTAINER or container
	Ecosystem string `json:"ecosystem"`    // the same, where the type is absent
	Owner     struct {
		Login string `json:"login"`
	} `json:"owner"`
	Version struct {
		Name     string `json:"name"` // a tag, or the digest
		URL      string `json:"package_url"`
		Metadata struct {
			Tag struct {
				Name   string `json:"name"` // empty for a push by digest
				Digest string `json:"digest"`
			} `json:"tag"`
		} `json:"container_metadata"`
	} `json:"package_version"`
}

// githubRegistry returns the container registry of a GitHub host. Its names are in lower
// case even where those of their owners are not.
// https://docs.github.com/en/enterprise-server@3.15/packages/working-with-a-github-packages-registry/working-with-the-container-registry
func githubRegistry(host string) string {
	if host == githubHost {
		return "ghcr.io"
	}
	return "containers." + host
}

// published decodes the event of a package in the container registry.
func (e githubEvent) published(host string) (payload.Delivery, error) {
	p := cmp.Or(e.Package, e.RegistryPackage)
	switch {
	case p == nil:
		return payload.Delivery{}, payload.Missing("package")
	case e.Action != "published" && e.Action != "updated" && e.Action != "create":
		return payload.Ignored(e.Action, "only published packages matter")
	case !strings.EqualFold(cmp.Or(p.Type, p.Ecosystem), "container"):
		return payload.Ignored(e.Action, "only containers matter")
	case p.Name == "":
		return payload.Delivery{}, payload.Missing("package.name")
	}
	where, ok := p.located(host)
	if !ok {
		return payload.Delivery{}, payload.Missing("package.owner")
	}
	tag := p.Version.Metadata.Tag
	found := payload.ImageEvent(where.Image.Host, where.Image.Path, cmp.Or(tag.Name, p.Version.Name), tag.Digest)
	return payload.Delivery{Events: []event.Event{found}}, nil
}

// located returns the image: from the URL of the version, which ends with a colon if there
// is no tag, or from the names of owner and package.
func (p *githubPackage) located(host string) (event.Event, bool) {
	found, ok := payload.ReferenceEvent(strings.ToLower(strings.TrimSuffix(p.Version.URL, ":")))
	if ok && strings.Contains(p.Version.URL, "/") {
		return found, true
	}
	owner := cmp.Or(p.Owner.Login, p.Namespace)
	return payload.ImageEvent(githubRegistry(host), strings.ToLower(owner+"/"+p.Name), "", ""), owner != ""
}
