package forges

import "promoter/internal/webhook/payload"

// Gogs decodes the events of Gogs, whose repositories promoter uses as plain Git.
// https://gogs.io/advancing/webhooks
func Gogs(r payload.Request) (payload.Delivery, error) {
	name := r.Header.Get("X-Gogs-Event")
	switch name {
	case "":
		return payload.Delivery{}, payload.Missing("header X-Gogs-Event")
	case "push", "create", "delete", "pull_request":
	default:
		return payload.Ignored(name, "the event does not matter")
	}
	e, err := payload.Read[struct {
		Repository struct {
			CloneURL string `json:"clone_url"`
			SSH      string `json:"ssh_url"`
		} `json:"repository"`
	}](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case e.Repository.CloneURL == "":
		return payload.Delivery{}, payload.Missing("repository.clone_url")
	}
	events := payload.CloneEvents(e.Repository.CloneURL, e.Repository.SSH)
	return payload.Delivery{ID: r.Header.Get("X-Gogs-Delivery"), EventType: name, Events: events}, nil
}
