package webhook

import "strings"

// distribution reads the notifications of the CNCF distribution registry, and of
// GitLab's, which is one: an envelope of several events.
// https://distribution.github.io/distribution/about/notifications/
func distribution(r Request) (Delivery, error) {
	envelope, err := read[struct {
		Events []struct {
			ID     string `json:"id"`
			Action string `json:"action"`
			Target struct {
				MediaType  string `json:"mediaType"`
				Digest     string `json:"digest"`
				Repository string `json:"repository"`
				URL        string `json:"url"`
				Tag        string `json:"tag"` // not there for a push by digest
			} `json:"target"`
			Request struct {
				Host string `json:"host"`
			} `json:"request"`
		} `json:"events"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	if len(envelope.Events) == 0 {
		return Delivery{}, lacks("events")
	}
	d := Delivery{ID: envelope.Events[0].ID, EventType: envelope.Events[0].Action}
	for _, e := range envelope.Events {
		if e.Action != "push" || !isManifest(e.Target.MediaType) {
			continue
		}
		for _, host := range hostsOf(e.Request.Host, e.Target.URL) {
			d.Events = append(d.Events, imageHint(host, e.Target.Repository, e.Target.Tag, e.Target.Digest))
		}
	}
	if len(d.Events) == 0 {
		d.Ignored = "only pushes of manifests matter"
	}
	return d, nil
}

// hostsOf are those under which the registry is known: to who pushed, which may be
// the name behind a proxy, and to itself, from X-Forwarded-Host or http.host of its
// configuration. Where it says neither, any may be meant.
// https://distribution.github.io/distribution/about/configuration/#http
func hostsOf(asked, address string) []string {
	known := hostOf(address)
	if asked == "" || known == "" {
		return []string{firstOf(asked, known)}
	}
	return []string{asked, known}
}

// isManifest tells manifests and indexes from blobs, whose media type is
// application/octet-stream or that of a layer.
func isManifest(mediaType string) bool {
	return strings.Contains(mediaType, ".manifest.") || strings.Contains(mediaType, ".image.index.")
}
