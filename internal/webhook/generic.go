package webhook

import (
	"strings"

	"promoter/internal/event"
)

// genericSignature accepts what a script can send: the secret in a header of choice, or the
// HMAC of the body there, as sha256=HEX.
func genericSignature(o Options) verifier {
	return either(signed(o.Header, "sha256="), headerSecret(o))
}

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
	path := firstOf(p.Repository, p.RepositoryName)
	host := firstOf(p.Registry, p.RegistryURL)
	if first, rest, _ := strings.Cut(path, "/"); host == "" && strings.ContainsAny(first, ".:") {
		host, path = first, rest
	}
	if strings.Contains(host, "://") {
		host = hostOf(host)
	}
	return imageEvent(firstOf(host, hostOf(source)), path, firstOf(p.Tag, p.ImageTag), firstOf(p.Digest, p.ImageDigest))
}

func generic(r Request) (Delivery, error) {
	body, err := read[genericBody](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case body.Data != nil || body.SpecVersion != "":
		return genericCloudEvent(body)
	}
	d := Delivery{ID: body.ID, EventType: firstOf(body.Type, "push")}
	for _, text := range append(body.Images, body.Image) {
		if e, ok := referenceEvent(text); ok {
			d.Events = append(d.Events, e)
		}
	}
	if e := body.event(""); e.Image.Path != "" {
		d.Events = append(d.Events, e)
	}
	if len(d.Events) == 0 {
		return Delivery{}, missing(`image, as in {"image": "quay.io/acme/web:1.4.2"}`)
	}
	return d, nil
}

func genericCloudEvent(body genericBody) (Delivery, error) {
	switch {
	case body.SpecVersion == "":
		return Delivery{}, missing("specversion")
	case body.Type == "":
		return Delivery{}, missing("type")
	case body.Data == nil:
		return Delivery{}, missing("data")
	}
	e := body.Data.event(body.Source)
	if e.Image.Path == "" {
		return ignored(body.Type, "the event names no image repository")
	}
	return Delivery{ID: body.ID, EventType: body.Type, Events: []event.Event{e}}, nil
}
