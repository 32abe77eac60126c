package webhook

import "strings"

// bitbucketSignature is the HMAC of the body, of both Bitbucket Cloud and Data Center.
// https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
// https://confluence.atlassian.com/bitbucketserver/manage-webhooks-938025878.html
func bitbucketSignature(Options) verifier { return signed("X-Hub-Signature", "sha256=") }

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

// addresses returns the addresses to clone from. On Bitbucket Cloud that is the page, with
// HTTPS and SSH.
func (b bitbucketRepository) addresses() []string {
	addresses := []string{b.Links.HTML.URL}
	for _, clone := range b.Links.Clone {
		addresses = append(addresses, clone.URL)
	}
	return addresses
}

// bitbucket decodes the events of Bitbucket Cloud and of Bitbucket Data Center. Those of
// pull requests on Data Center name the repository in the target of the pull request.
// https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/
// https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
func bitbucket(r Request) (Delivery, error) {
	name := r.Header.Get("X-Event-Key")
	if name == "" {
		return Delivery{}, missing("header X-Event-Key")
	}
	isPull := strings.HasPrefix(name, "pullrequest:") || strings.HasPrefix(name, "pr:")
	switch {
	case name == "diagnostics:ping":
		return ignored(name, "a ping")
	case strings.Contains(name, ":comment"):
		return ignored(name, "comments do not matter")
	case name != "repo:push" && name != "repo:refs_changed" && !isPull:
		return ignored(name, "the event does not matter")
	}
	e, err := read[struct {
		Repository *bitbucketRepository `json:"repository"`
		Pull       struct {
			To struct {
				Repository *bitbucketRepository `json:"repository"`
			} `json:"toRef"`
		} `json:"pullRequest"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	repository := e.Repository
	if repository == nil {
		repository = e.Pull.To.Repository
	}
	if repository == nil {
		return Delivery{}, missing("repository")
	}
	events := cloneEvents(repository.addresses()...)
	if len(events) == 0 {
		return ignored(name, "the repository has no link")
	}
	id := firstOf(r.Header.Get("X-Request-UUID"), r.Header.Get("X-Request-Id"))
	return Delivery{ID: id, EventType: name, Events: events}, nil
}
