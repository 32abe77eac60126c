package webhook

// gogsSignature is the HMAC of the JSON, also if that is a field of a form.
// https://gogs.io/advancing/webhooks
// https://github.com/gogs/gogs/blob/main/internal/database/webhook.go
func gogsSignature(o Options) verifier { return ofForm(o, signed("X-Gogs-Signature", "")) }

// gogs decodes the events of Gogs, whose repositories promoter uses as plain Git.
// https://gogs.io/advancing/webhooks
func gogs(r Request) (Delivery, error) {
	name := r.Header.Get("X-Gogs-Event")
	switch name {
	case "":
		return Delivery{}, missing("header X-Gogs-Event")
	case "push", "create", "delete", "pull_request":
	default:
		return ignored(name, "the event does not matter")
	}
	e, err := read[struct {
		Repository struct {
			CloneURL string `json:"clone_url"`
			SSH      string `json:"ssh_url"`
		} `json:"repository"`
	}](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case e.Repository.CloneURL == "":
		return Delivery{}, missing("repository.clone_url")
	}
	return Delivery{ID: r.Header.Get("X-Gogs-Delivery"), EventType: name, Events: cloneEvents(e.Repository.CloneURL, e.Repository.SSH)}, nil
}
