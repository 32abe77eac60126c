package webhook

import (
	"context"
	"crypto/sha256"
	"strings"

	"promoter/internal/event"
	"promoter/internal/identity"
)

// giteaSignature is the HMAC of the JSON, in Gitea's own header or in GitHub's. Where
// that is a field of a form, GitHub signs the form and Gitea the field.
// https://docs.gitea.com/usage/webhooks
// https://github.com/go-gitea/gitea/blob/main/services/webhook/deliver.go
func giteaSignature(o Options) proof {
	sign := hmacOf(sha256.New, []byte(o.Secret.Reveal()))
	either := either(signed("X-Gitea-Signature", ""), hubSignature(o))
	return func(ctx context.Context, r Request) bool {
		if inForm, ok := r.formPayload(); ok {
			r.sum = sign(inForm)
		}
		return either(ctx, r)
	}
}

// giteaEvent is what events of Gitea and Forgejo have in common.
type giteaEvent struct {
	Action     string `json:"action"`
	Repository *struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
		CloneURL string `json:"clone_url"` // HTTP, also where the pages are not told
	} `json:"repository"` // null for a package that belongs to none
	Sender struct {
		HTMLURL string `json:"html_url"`
	} `json:"sender"`
	Number int `json:"number"`
	Issue  struct {
		Number int `json:"number"`
	} `json:"issue"`
	IsPull  bool `json:"is_pull"`
	Comment struct {
		ID int64 `json:"id"`
	} `json:"comment"`
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
	happened := firstOf(r.Header.Get("X-Gitea-Event"), r.Header.Get("X-Forgejo-Event"))
	if happened == "" {
		return Delivery{}, lacks("header X-Gitea-Event")
	}
	e, err := read[giteaEvent](r)
	if err != nil {
		return Delivery{}, err
	}
	d, err := e.delivery(happened)
	d.ID = firstOf(r.Header.Get("X-Gitea-Delivery"), r.Header.Get("X-Forgejo-Delivery"))
	if d.EventType = happened; e.Action != "" {
		d.EventType += " " + e.Action
	}
	return d, err
}

func (e giteaEvent) delivery(happened string) (Delivery, error) {
	switch {
	case happened == "package":
		return e.published()
	case happened == "release":
		return e.about(event.Event{Kind: event.KindRelease})
	case happened == "issue_comment" && (!e.IsPull || e.Action != "created"):
		return ignored(happened, "only new comments on pull requests matter")
	case happened == "issue_comment":
		return e.about(event.Event{Kind: event.KindComment, Number: max(e.Issue.Number, e.Number), Comment: e.Comment.ID})
	case strings.HasPrefix(happened, "pull_request"), happened == "push", happened == "create", happened == "delete",
		happened == "status", happened == "repository", happened == "workflow_run", happened == "action_run_success", happened == "action_run_failure":
		return e.about(event.Event{Kind: event.KindRepository})
	}
	return ignored(happened, "the event does not matter")
}

func (e giteaEvent) about(hint event.Event) (Delivery, error) {
	if e.Repository == nil {
		return Delivery{}, lacks("repository")
	}
	host := firstOf(hostOf(e.Repository.HTMLURL), hostOf(e.Repository.CloneURL))
	hint.Repository = event.Repository{Host: host, Name: e.Repository.FullName, ID: identity.NumericID(e.Repository.ID)}
	return Delivery{Events: []event.Event{hint}}, nil
}

// published reads the event of a package. Its registry is the forge itself.
func (e giteaEvent) published() (Delivery, error) {
	p := e.Package
	switch {
	case p == nil:
		return Delivery{}, lacks("package")
	case e.Action != "created":
		return ignored(e.Action, "only created packages matter")
	case p.Type != "container":
		return ignored(e.Action, "only containers matter")
	case p.Owner.Login == "" || p.Name == "":
		return Delivery{}, lacks("package.name and package.owner")
	}
	host := firstOf(hostOf(p.HTMLURL), hostOf(e.Sender.HTMLURL)) // else any
	return Delivery{Events: []event.Event{imageHint(host, strings.ToLower(p.Owner.Login+"/"+p.Name), p.Version, "")}}, nil
}
