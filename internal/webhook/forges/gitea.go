package forges

import (
	"slices"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
	"promoter/internal/webhook/payload"
)

// giteaEvent has the common fields of the events of Gitea and Forgejo.
type giteaEvent struct {
	Action     string `json:"action"`
	Repository *struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
		CloneURL string `json:"clone_url"` // HTTP, also in events without html_url
	} `json:"repository"` // null for a package without a repository
	Sender struct {
		HTMLURL string `json:"html_url"`
	} `json:"sender"`
	Number int `json:"number"`
	Issue  struct {
		Number int `json:"number"`
	} `json:"issue"`
	IsPull  bool       `json:"is_pull"`
	Comment newComment `json:"comment"`
	Package *struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"` // a tag, or the digest
		HTMLURL string `json:"html_url"`
		Owner   struct {
			Login string `json:"login"`
		} `json:"owner"`
	} `json:"package"`
}

// Gitea decodes the events of Gitea and Forgejo: of repositories and of packages.
func Gitea(r payload.Request) (payload.Delivery, error) {
	name := r.Sent("X-Gitea-Event", "X-Forgejo-Event")
	if name == "" {
		return payload.Delivery{}, payload.Missing("header X-Gitea-Event")
	}
	e, err := payload.Read[giteaEvent](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	d, err := e.delivery(name)
	d.ID = r.Sent("X-Gitea-Delivery", "X-Forgejo-Delivery")
	d.EventType = strings.TrimSpace(name + " " + e.Action)
	return d, err
}

func (e giteaEvent) delivery(name string) (payload.Delivery, error) {
	switch {
	case name == "package":
		return e.published()
	case name == "release":
		return e.about(event.Event{Kind: event.KindRelease})
	case name == "issue_comment" && (!e.IsPull || e.Action != "created"):
		return payload.Ignored(name, "only new comments on pull requests matter")
	case name == "issue_comment":
		return e.about(e.Comment.event(max(e.Issue.Number, e.Number)))
	case strings.HasPrefix(name, "pull_request"), slices.Contains(giteaChanges, name):
		return e.about(event.Event{Kind: event.KindRepository})
	}
	return payload.Ignored(name, "the event does not matter")
}

// giteaChanges are the events of a repository that may change what is promoted, besides those of
// pull requests.
var giteaChanges = []string{
	"push", "create", "delete", "status", "repository", "workflow_run", "action_run_success", "action_run_failure",
}

func (e giteaEvent) about(found event.Event) (payload.Delivery, error) {
	if e.Repository == nil {
		return payload.Delivery{}, payload.Missing("repository")
	}
	host := payload.HostOf(e.Repository.HTMLURL, e.Repository.CloneURL)
	found.Repository = event.Repository{Host: host, Name: e.Repository.FullName, ID: identity.NumericID(e.Repository.ID)}
	return payload.Delivery{Events: []event.Event{found}}, nil
}

// published decodes the event of a package. Its registry is the forge itself.
func (e giteaEvent) published() (payload.Delivery, error) {
	p := e.Package
	switch {
	case p == nil:
		return payload.Delivery{}, payload.Missing("package")
	case e.Action != "created":
		return payload.Ignored(e.Action, "only created packages matter")
	case p.Type != "container":
		return payload.Ignored(e.Action, "only containers matter")
	case p.Owner.Login == "" || p.Name == "":
		return payload.Delivery{}, payload.Missing("package.name and package.owner")
	}
	host := payload.HostOf(p.HTMLURL, e.Sender.HTMLURL) // else any
	return payload.Delivery{Events: []event.Event{payload.ImageEvent(host, strings.ToLower(p.Owner.Login+"/"+p.Name), p.Version, "")}}, nil
}
