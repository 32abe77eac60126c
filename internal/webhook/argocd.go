package webhook

import (
	"net/url"
	"strings"

	"promoter/internal/event"
)

// argoCD decodes the requests of an Argo CD notification template. Users choose the fields;
// docs/webhooks.md has a template with the repository of the application.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/services/webhook/
func argoCD(r Request) (Delivery, error) {
	body, err := read[struct {
		Application string `json:"application"`
		RepoURL     string `json:"repoURL"`
	}](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case body.Application == "":
		return Delivery{}, missing("application")
	case body.RepoURL == "":
		return Delivery{}, missing("repoURL")
	}
	where, ok := repositoryAt(body.RepoURL)
	if !ok {
		return Delivery{}, missing("repoURL with a host and a path")
	}
	return Delivery{EventType: "health", Events: []event.Event{{Kind: event.KindRepository, Repository: where}}}, nil
}

// repositoryAt parses a clone URL, also USER@HOST:PATH.
func repositoryAt(address string) (event.Repository, bool) {
	if !strings.Contains(address, "://") {
		host, path, found := strings.Cut(address, ":")
		if !found {
			return event.Repository{}, false
		}
		address = "ssh://" + host + "/" + path
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return event.Repository{}, false
	}
	host := hostOf(address)
	if parsed.Scheme == "ssh" { // its port differs from that of the web pages
		host = strings.ToLower(parsed.Hostname())
	}
	name := strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")
	return event.Repository{Host: host, Name: name}, host != "" && name != ""
}
