package forges

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
	"promoter/internal/webhook/payload"
)

// gitlabEvent has the common fields of the events of a project, of a group, and of system
// hooks.
// https://docs.gitlab.com/user/project/integrations/webhook_events/
// https://docs.gitlab.com/administration/system_hooks/
type gitlabEvent struct {
	Kind    string `json:"object_kind"`
	Name    string `json:"event_name"` // of a system hook
	Project struct {
		ID   int64  `json:"id"`
		Path string `json:"path_with_namespace"`
		URL  string `json:"web_url"`
	} `json:"project"`
	ProjectID  int64  `json:"project_id"`
	Path       string `json:"path_with_namespace"` // of a project, in a system hook
	Repository struct {
		URL string `json:"homepage"`
	} `json:"repository"` // also in events without a project: of jobs, in older releases
	Object struct {
		ID       int64  `json:"id"`
		Noteable string `json:"noteable_type"`
		Action   string `json:"action"`
		Note     string `json:"note"`
	} `json:"object_attributes"`
	MergeRequest struct {
		Number int `json:"iid"`
	} `json:"merge_request"`
}

// name returns the name of the event: from the body, or from a header where the custom
// template of the webhook omits it.
func (e gitlabEvent) name(header http.Header) string {
	name := strings.TrimSuffix(header.Get("X-Gitlab-Event"), " Hook")
	if name == "Job" {
		name = "build"
	}
	return cmp.Or(e.Kind, e.Name, strings.ToLower(strings.ReplaceAll(name, " ", "_")))
}

// repository returns the project. Events of older releases and system hooks omit its URL;
// a header has the URL of the GitLab instance.
func (e gitlabEvent) repository(header http.Header) event.Repository {
	path := cmp.Or(e.Project.Path, e.Path)
	if home, err := url.Parse(e.Repository.URL); err == nil && path == "" {
		path = strings.Trim(home.Path, "/")
	}
	host := payload.HostOf(e.Project.URL, e.Repository.URL, header.Get("X-Gitlab-Instance"))
	return event.Repository{Host: host, Name: path, ID: identity.NumericID(max(e.Project.ID, e.ProjectID))}
}

// GitLab decodes the events of projects, of groups, and of the instance.
func GitLab(r payload.Request) (payload.Delivery, error) {
	e, err := payload.Read[gitlabEvent](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	name := e.name(r.Header)
	found := event.Event{Kind: event.KindRepository, Repository: e.repository(r.Header)}
	switch name {
	case "":
		return payload.Delivery{}, payload.Missing("object_kind, and no header X-Gitlab-Event")
	case "release":
		found.Kind = event.KindRelease
	case "note":
		if e.Object.Noteable != "MergeRequest" || e.Object.Action == "update" {
			return payload.Ignored(name, "only new comments on merge requests matter")
		}
		comment := newComment{ID: e.Object.ID}
		if e.Object.Action == "create" { // older releases do not report the action, and send the same event for an edit
			comment.Body = e.Object.Note
		}
		repository := found.Repository
		found = comment.event(e.MergeRequest.Number)
		found.Repository = repository
	case "push", "tag_push", "repository_update", "merge_request", "pipeline", "build", "deployment",
		"project_rename", "project_transfer", "project_update", "project_destroy":
	default:
		return payload.Ignored(name, "the event does not matter")
	}
	if found.Repository.Host == "" {
		return payload.Delivery{}, payload.Missing("project.web_url")
	}
	id := r.Sent("Idempotency-Key", "X-Gitlab-Event-UUID")
	return payload.Delivery{ID: id, EventType: name, Events: []event.Event{found}}, nil
}
