package webhook

import (
	"context"
	"crypto/sha256"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
)

// giteaSignature is the HMAC of the JSON, in Gitea's own header or in GitHub's. For a form,
// GitHub signs the whole form and Gitea the field with the JSON.
// https://docs.gitea.com/usage/webhooks
// https://github.com/go-gitea/gitea/blob/main/services/webhook/deliver.go
func giteaSignature(o Options) verifier {
	return ofForm(o, either(signed("X-Gitea-Signature", ""), hubSignature(o)))
}

// ofForm is for senders that sign the field with the JSON instead of the form.
func ofForm(o Options, verify verifier) verifier {
	sign := hmacOf(sha256.New, []byte(o.Secret.Reveal()))
	return func(ctx context.Context, r Request) bool {
		if inForm, ok := r.formPayload(); ok {
			r.sum = sign(inForm)
		}
		return verify(ctx, r)
	}
}

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

func gitea(r Request) (Delivery, error) {
	name := firstOf(r.Header.Get("X-Gitea-Event"), r.Header.Get("X-Forgejo-Event"))
	if name == "" {
		return Delivery{}, missing("header X-Gitea-Event")
	}
	e, err := read[giteaEvent](r)
	if err != nil {
		return Delivery{}, err
	}
	d, err := e.delivery(name)
	d.ID = firstOf(r.Header.Get("X-Gitea-Delivery"), r.Header.Get("X-Forgejo-Delivery"))
	if d.EventType = name; e.Action != "" {
		d.EventType += " " + e.Action
	}
	return d, err
}

func (e giteaEvent) delivery(name string) (Delivery, error) {
	switch {
	case name == "package":
		return e.published()
	case name == "release":
		return e.about(event.Event{Kind: event.KindRelease})
	case name == "issue_comment" && (!e.IsPull || e.Action != "created"):
		return ignored(name, "only new comments on pull requests matter")
	case name == "issue_comment":
		return e.about(event.Event{Kind: event.KindComment, Number: max(e.Issue.Number, e.Number), Comment: e.Comment.ID, Digest: e.Comment.digest()})
	case strings.HasPrefix(name, "pull_request"), name == "push", name == "create", name == "delete",
		name == "status", name == "repository", name == "workflow_run", name == "action_run_success", name == "action_run_failure":
		return e.about(event.Event{Kind: event.KindRepository})
	}
	return ignored(name, "the event does not matter")
}

func (e giteaEvent) about(found event.Event) (Delivery, error) {
	if e.Repository == nil {
		return Delivery{}, missing("repository")
	}
	host := firstOf(hostOf(e.Repository.HTMLURL), hostOf(e.Repository.CloneURL))
	found.Repository = event.Repository{Host: host, Name: e.Repository.FullName, ID: identity.NumericID(e.Repository.ID)}
	return Delivery{Events: []event.Event{found}}, nil
}

// published decodes the event of a package. Its registry is the forge itself.
func (e giteaEvent) published() (Delivery, error) {
	p := e.Package
	switch {
	case p == nil:
		return Delivery{}, missing("package")
	case e.Action != "created":
		return ignored(e.Action, "only created packages matter")
	case p.Type != "container":
		return ignored(e.Action, "only containers matter")
	case p.Owner.Login == "" || p.Name == "":
		return Delivery{}, missing("package.name and package.owner")
	}
	host := firstOf(hostOf(p.HTMLURL), hostOf(e.Sender.HTMLURL)) // else any
	return Delivery{Events: []event.Event{imageEvent(host, strings.ToLower(p.Owner.Login+"/"+p.Name), p.Version, "")}}, nil
}
