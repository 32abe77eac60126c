package forges

import (
	"cmp"
	"strings"

	"promoter/internal/webhook/payload"
)

// bitbucketRepository is a repository of Bitbucket Cloud, with its page, or of Bitbucket Data
// Center, with its clone URLs.
type bitbucketRepository struct {
	Links struct {
		HTML struct {
			URL string `json:"href"`
		} `json:"html"`
		Clone []struct {
			URL string `json:"href"`
		} `json:"clone"`
	} `json:"links"`
}

// Bitbucket decodes the events of Bitbucket Cloud and of Bitbucket Data Center. Those of
// pull requests on Data Center name the repository in the target of the pull request.
// https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/
// https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
func Bitbucket(r payload.Request) (payload.Delivery, error) {
	name := r.Header.Get("X-Event-Key")
	if name == "" {
		return payload.Delivery{}, payload.Missing("header X-Event-Key")
	}
	isPull := strings.HasPrefix(name, "pullrequest:") || strings.HasPrefix(name, "pr:")
	switch {
	case name == "diagnostics:ping":
		return payload.Ignored(name, "a ping")
	case strings.Contains(name, ":comment"):
		return payload.Ignored(name, "comments do not matter")
	case name != "repo:push" && name != "repo:refs_changed" && !isPull:
		return payload.Ignored(name, "the event does not matter")
	}
	e, err := payload.Read[struct {
		Repository *bitbucketRepository `json:"repository"`
		Pull       struct {
			To struct {
				Repository *bitbucketRepository `json:"repository"`
			} `json:"toRef"`
		} `json:"pullRequest"`
	}](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	repository := cmp.Or(e.Repository, e.Pull.To.Repository)
	if repository == nil {
		return payload.Delivery{}, payload.Missing("repository")
	}
	addresses := []string{repository.Links.HTML.URL} // of Bitbucket Cloud, with HTTPS and SSH
	for _, clone := range repository.Links.Clone {
		addresses = append(addresses, clone.URL)
	}
	events := payload.CloneEvents(addresses...)
	if len(events) == 0 {
		return payload.Ignored(name, "the repository has no link")
	}
	return payload.Delivery{ID: r.Sent("X-Request-UUID", "X-Request-Id"), EventType: name, Events: events}, nil
}
