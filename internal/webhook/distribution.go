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
	d := Delivery{ID: envelope.Events[0].ID, Event: envelope.Events[0].Action}
	for _, e := range envelope.Events {
		if e.Action != "push" || !isManifest(e.Target.MediaType) {
			continue
		}
		d.Hints = append(d.Hints, imageHint(firstOf(e.Request.Host, hostOf(e.Target.URL)), e.Target.Repository, e.Target.Tag, e.Target.Digest))
	}
	if len(d.Hints) == 0 {
		d.Ignored = "only pushes of manifests matter"
	}
	return d, nil
}

// isManifest tells manifests and indexes from blobs, whose media type is
// application/octet-stream or that of a layer.
func isManifest(mediaType string) bool {
	return strings.Contains(mediaType, ".manifest.") || strings.Contains(mediaType, ".image.index.")
}
