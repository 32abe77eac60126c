package webhook

import "promoter/internal/event"

// gitlabToken is the secret itself in a header.
// https://docs.gitlab.com/user/project/integrations/webhooks/#validate-requests-by-using-a-secret-token
func gitlabToken(o Options) proof { return inHeader("X-Gitlab-Token", o.Secret) }

// gitlab reads the events of a project, of a group, and system hooks.
// https://docs.gitlab.com/user/project/integrations/webhook_events/
func gitlab(r Request) (Delivery, error) {
	e, err := read[struct {
		Kind    string `json:"object_kind"`
		Name    string `json:"event_name"` // of a system hook
		Project struct {
			ID   int64  `json:"id"`
			Path string `json:"path_with_namespace"`
			URL  string `json:"web_url"`
		} `json:"project"`
		ProjectID int64 `json:"project_id"`
		Object    struct {
			ID       int64  `json:"id"`
			Noteable string `json:"noteable_type"`
			Action   string `json:"action"`
		} `json:"object_attributes"`
		MergeRequest struct {
			Number int `json:"iid"`
		} `json:"merge_request"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	happened := firstOf(e.Kind, e.Name)
	hint := event.Hint{Kind: event.KindRepository, Repository: event.Repository{
		Host: hostOf(e.Project.URL), Name: e.Project.Path, ID: max(e.Project.ID, e.ProjectID),
	}}
	switch happened {
	case "":
		return Delivery{}, lacks("object_kind")
	case "release":
		hint.Kind = event.KindRelease
	case "note":
		if e.Object.Noteable != "MergeRequest" || e.Object.Action == "update" {
			return ignored(happened, "only new comments on merge requests matter")
		}
		hint.Kind, hint.Number, hint.Comment = event.KindComment, e.MergeRequest.Number, e.Object.ID
	case "push", "tag_push", "merge_request", "pipeline", "build", "deployment", "project_rename", "project_transfer", "project_update":
	default:
		return ignored(happened, "the event does not matter")
	}
	if hint.Repository.Host == "" {
		return Delivery{}, lacks("project.web_url")
	}
	id := firstOf(r.Header.Get("Idempotency-Key"), r.Header.Get("X-Gitlab-Event-UUID"))
	return Delivery{ID: id, Event: happened, Hints: []event.Hint{hint}}, nil
}
