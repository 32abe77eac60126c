package pipelines

import (
	"cmp"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// genericBody is JSON that is easy to write: {"image": "HOST/PATH:TAG"}, or several images
// as "images". Or the separate fields that registries use, directly or as the data of a
// CloudEvent.
type genericBody struct {
	Image  string   `json:"image"`
	Images []string `json:"images"`
	genericPush

	ID          string       `json:"id"`
	SpecVersion string       `json:"specversion"`
	Type        string       `json:"type"`
	Source      string       `json:"source"` // of a CloudEvent: a URL with the host of the registry
	Subject     string       `json:"subject"`
	Data        *genericPush `json:"data"`
}

// genericPush has the fields of a push under the names in use.
type genericPush struct {
	Registry       string `json:"registry"`
	RegistryURL    string `json:"registryUrl"`
	Repository     string `json:"repository"`
	RepositoryName string `json:"repositoryName"`
	Tag            string `json:"tag"`
	ImageTag       string `json:"imageTag"`
	Digest         string `json:"digest"`
	ImageDigest    string `json:"imageDigest"`
}

func (p genericPush) event(source string) event.Event {
	path := cmp.Or(p.Repository, p.RepositoryName)
	host := cmp.Or(p.Registry, p.RegistryURL)
	if first, rest, _ := strings.Cut(path, "/"); host == "" && strings.ContainsAny(first, ".:") {
		host, path = first, rest
	}
	if strings.Contains(host, "://") {
		host = payload.HostOf(host)
	}
	return payload.ImageEvent(cmp.Or(host, payload.HostOf(source)), path, cmp.Or(p.Tag, p.ImageTag), cmp.Or(p.Digest, p.ImageDigest))
}

// Generic decodes what scripts post: the images that they pushed.
func Generic(r payload.Request) (payload.Delivery, error) {
	body, err := payload.Read[genericBody](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case body.Data != nil || body.SpecVersion != "":
		return genericCloudEvent(body)
	}
	d := payload.Delivery{ID: body.ID, EventType: cmp.Or(body.Type, "push")}
	for _, text := range append(body.Images, body.Image) {
		if e, ok := payload.ReferenceEvent(text); ok {
			d.Events = append(d.Events, e)
		}
	}
	if e := body.event(""); e.Image.Path != "" {
		d.Events = append(d.Events, e)
	}
	if len(d.Events) == 0 {
		return payload.Delivery{}, payload.Missing(`image, as in {"image": "quay.io/acme/web:1.4.2"}`)
	}
	return d, nil
}

func genericCloudEvent(body genericBody) (payload.Delivery, error) {
	switch {
	case body.SpecVersion == "":
		return payload.Delivery{}, payload.Missing("specversion")
	case body.Type == "":
		return payload.Delivery{}, payload.Missing("type")
	case body.Data == nil:
		return payload.Delivery{}, payload.Missing("data")
	}
	e := body.Data.event(body.Source)
	if e.Image.Path == "" {
		return payload.Ignored(body.Type, "the event names no image repository")
	}
	return payload.Delivery{ID: body.ID, EventType: body.Type, Events: []event.Event{e}}, nil
}
