package registries

import (
	"cmp"
	"strings"

	"promoter/internal/webhook/payload"
)

// Distribution decodes the notifications of the CNCF distribution registry and of GitLab's
// registry, which is based on it: an envelope of several events.
// https://distribution.github.io/distribution/about/notifications/
func Distribution(r payload.Request) (payload.Delivery, error) {
	envelope, err := payload.Read[struct {
		Events []struct {
			ID     string `json:"id"`
			Action string `json:"action"`
			Target struct {
				MediaType  string `json:"mediaType"`
				Digest     string `json:"digest"`
				Repository string `json:"repository"`
				URL        string `json:"url"`
				Tag        string `json:"tag"` // absent for a push by digest
			} `json:"target"`
			Request struct {
				Host string `json:"host"`
			} `json:"request"`
		} `json:"events"`
	}](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	if len(envelope.Events) == 0 {
		return payload.Delivery{}, payload.Missing("events")
	}
	d := payload.Delivery{ID: envelope.Events[0].ID, EventType: envelope.Events[0].Action}
	for _, e := range envelope.Events {
		if e.Action != "push" || !isManifest(e.Target.MediaType) {
			continue
		}
		for _, host := range hostsOf(e.Request.Host, e.Target.URL) {
			d.Events = append(d.Events, payload.ImageEvent(host, e.Target.Repository, e.Target.Tag, e.Target.Digest))
		}
	}
	if len(d.Events) == 0 {
		d.Ignored = "only pushes of manifests matter"
	}
	return d, nil
}

// hostsOf returns the hosts of the registry: the one that the client requested, possibly an
// internal name behind a proxy, and the one that the registry knows, from X-Forwarded-Host
// or http.host of its configuration. An empty host matches any.
// https://distribution.github.io/distribution/about/configuration/#http
func hostsOf(requested, address string) []string {
	known := payload.HostOf(address)
	if requested == "" || known == "" {
		return []string{cmp.Or(requested, known)}
	}
	return []string{requested, known}
}

// isManifest distinguishes manifests and indexes from blobs, whose media type is
// application/octet-stream or that of a layer.
func isManifest(mediaType string) bool {
	return strings.Contains(mediaType, ".manifest.") || strings.Contains(mediaType, ".image.index.")
}
