// Package evidence decodes what sources report about health: Applications of Argo CD, from its
// notifications and its API, events of Flux, and what users post.
//
// A report is a claim of its source. Which reports count for a repository, and for which landed
// commits, is decided by their receiver, by the config, and by what they are bound to.
package evidence

import (
	"encoding/hex"
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/health"
)

// Report is what a source reported about one object.
type Report struct {
	Health health.Report
	// Repositories are those that the object is deployed from. Only they may use the report.
	// Empty: any repository whose config names the object.
	Repositories []event.Repository
}

// Events returns the events of a report: it may concern these repositories.
func (r Report) Events() []event.Event {
	if len(r.Repositories) == 0 {
		return []event.Event{{Kind: event.KindHealth, Subject: r.Health.Subject}}
	}
	var events []event.Event
	for _, repository := range r.Repositories {
		events = append(events, event.Event{Kind: event.KindHealth, Subject: r.Health.Subject, Repository: repository})
	}
	return events
}

// RepositoryAt parses a clone URL, also USER@HOST:PATH.
func RepositoryAt(address string) (event.Repository, bool) {
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
	host := HostOf(parsed)
	if strings.EqualFold(parsed.Scheme, "ssh") { // its port differs from that of the web pages
		host = strings.ToLower(parsed.Hostname())
	}
	name := strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")
	return event.Repository{Host: host, Name: name}, host != "" && name != ""
}

// HostOf returns the host of a URL, with its port unless it is the default one.
func HostOf(address *url.URL) string {
	host := strings.ToLower(address.Host)
	switch strings.ToLower(address.Scheme) {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// bind adds what is deployed, as a source names it: a commit, a digest, or the version of a
// chart.
func bind(r *health.Report, revision string) {
	switch {
	case revision == "":
	case isCommit(revision):
		r.Revisions = append(r.Revisions, strings.ToLower(revision))
	case isDigest(revision):
		r.Digests = append(r.Digests, revision)
	default:
		r.Charts = append(r.Charts, revision)
	}
}

// isCommit reports whether text is the whole ID of a commit, of SHA-1 or SHA-256.
func isCommit(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64)
}

func isDigest(text string) bool {
	sum, found := strings.CutPrefix(text, "sha256:")
	return found && len(sum) == 64 && isCommit(sum)
}
