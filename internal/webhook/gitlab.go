package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
)

// gitlabToken is the secret token in a header, or a signature with the signing token.
// https://docs.gitlab.com/user/project/integrations/webhooks/#validate-requests-by-using-a-secret-token
func gitlabToken(o Options) verifier {
	return either(inHeader("X-Gitlab-Token", o.Secret), standardSignature(o))
}

// standardSignature is the signature of Standard Webhooks: the HMAC of ID, time, and body in
// Base64, with a key in Base64 after whsec_. The time is not checked: a replayed request
// only causes another reconciliation.
// https://gitlab.com/gitlab-org/gitlab/-/merge_requests/230944
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
func standardSignature(o Options) verifier {
	text, isKey := strings.CutPrefix(o.Secret.Reveal(), "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !isKey || err != nil {
		return func(context.Context, Request) bool { return false }
	}
	sign := hmacOf(sha256.New, key)
	return func(_ context.Context, r Request) bool {
		wanted := sign([]byte(r.Header.Get("Webhook-Id")+"."+r.Header.Get("Webhook-Timestamp")+"."), r.Body)
		verified := false
		for _, signature := range strings.Fields(r.Header.Get("Webhook-Signature")) {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
			verified = err == nil && hmac.Equal(sum, wanted) || verified
		}
		return verified
	}
}

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
	return firstOf(e.Kind, e.Name, strings.ToLower(strings.ReplaceAll(name, " ", "_")))
}

// repository returns the project. Events of older releases and system hooks omit its URL;
// a header has the URL of the GitLab instance.
func (e gitlabEvent) repository(header http.Header) event.Repository {
	path := firstOf(e.Project.Path, e.Path)
	if home, err := url.Parse(e.Repository.URL); err == nil && path == "" {
		path = strings.Trim(home.Path, "/")
	}
	host := firstOf(hostOf(e.Project.URL), hostOf(e.Repository.URL), hostOf(header.Get("X-Gitlab-Instance")))
	return event.Repository{Host: host, Name: path, ID: identity.NumericID(max(e.Project.ID, e.ProjectID))}
}

func gitlab(r Request) (Delivery, error) {
	e, err := read[gitlabEvent](r)
	if err != nil {
		return Delivery{}, err
	}
	name := e.name(r.Header)
	found := event.Event{Kind: event.KindRepository, Repository: e.repository(r.Header)}
	switch name {
	case "":
		return Delivery{}, missing("object_kind, and no header X-Gitlab-Event")
	case "release":
		found.Kind = event.KindRelease
	case "note":
		if e.Object.Noteable != "MergeRequest" || e.Object.Action == "update" {
			return ignored(name, "only new comments on merge requests matter")
		}
		found.Kind, found.Number, found.Comment = event.KindComment, e.MergeRequest.Number, e.Object.ID
		if e.Object.Action == "create" { // older releases do not report the action, and send the same event for an edit
			found.Digest = newComment{Body: e.Object.Note}.digest()
		}
	case "push", "tag_push", "repository_update", "merge_request", "pipeline", "build", "deployment",
		"project_rename", "project_transfer", "project_update", "project_destroy":
	default:
		return ignored(name, "the event does not matter")
	}
	if found.Repository.Host == "" {
		return Delivery{}, missing("project.web_url")
	}
	id := firstOf(r.Header.Get("Idempotency-Key"), r.Header.Get("X-Gitlab-Event-UUID"))
	return Delivery{ID: id, EventType: name, Events: []event.Event{found}}, nil
}
