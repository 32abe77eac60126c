package webhook

import (
	"net/url"
	"strings"

	"promoter/internal/event"
)

// argoCD reads what a template of Argo CD notifications posts. Its form is up to who
// writes the template; docs/webhooks.md has one that says where the application
// comes from.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/services/webhook/
func argoCD(r Request) (Delivery, error) {
	told, err := read[struct {
		Application string `json:"application"`
		RepoURL     string `json:"repoURL"`
	}](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case told.Application == "":
		return Delivery{}, lacks("application")
	case told.RepoURL == "":
		return Delivery{}, lacks("repoURL")
	}
	where, ok := repositoryAt(told.RepoURL)
	if !ok {
		return Delivery{}, lacks("repoURL with a host and a path")
	}
	return Delivery{EventType: "health", Events: []event.Event{{Kind: event.KindRepository, Repository: where}}}, nil
}

// repositoryAt reads the URL that Git clones from, also USER@HOST:PATH.
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
	if parsed.Scheme == "ssh" { // whose port is not that of the pages
		host = strings.ToLower(parsed.Hostname())
	}
	name := strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")
	return event.Repository{Host: host, Name: name}, host != "" && name != ""
}
