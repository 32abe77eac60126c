package webhook

import (
	"strings"

	"promoter/internal/event"
)

// genericSignature is what a script can send: the secret in a header of choice, or
// the HMAC of the body there, as sha256=HEX.
func genericSignature(o Options) proof {
	return either(signed(o.Header, "sha256="), headerSecret(o))
}

// genericBody is JSON that is easy to write: {"image": "HOST/PATH:TAG"}, or several
// of them as images. Else the fields by which registries tell it apart, by themselves
// or as the data of a CloudEvent.
type genericBody struct {
	Image  string   `json:"image"`
	Images []string `json:"images"`
	genericPush

	ID          string       `json:"id"`
	SpecVersion string       `json:"specversion"`
	Type        string       `json:"type"`
	Source      string       `json:"source"` // of a CloudEvent: a URL whose host is the registry's
	Subject     string       `json:"subject"`
	Data        *genericPush `json:"data"`
}

// genericPush has what is told of one push under the names that are in use.
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

func (p genericPush) hint(source string) event.Event {
	path := firstOf(p.Repository, p.RepositoryName)
	host := firstOf(p.Registry, p.RegistryURL)
	if first, rest, _ := strings.Cut(path, "/"); host == "" && strings.ContainsAny(first, ".:") {
		host, path = first, rest
	}
	if strings.Contains(host, "://") {
		host = hostOf(host)
	}
	return imageHint(firstOf(host, hostOf(source)), path, firstOf(p.Tag, p.ImageTag), firstOf(p.Digest, p.ImageDigest))
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
		if hint, ok := referenceHint(text); ok {
			d.Events = append(d.Events, hint)
		}
	}
	if hint := body.hint(""); hint.Image.Path != "" {
		d.Events = append(d.Events, hint)
	}
	if len(d.Events) == 0 {
		return Delivery{}, lacks(`image, as in {"image": "quay.io/acme/web:1.4.2"}`)
	}
	return d, nil
}

func genericCloudEvent(body genericBody) (Delivery, error) {
	switch {
	case body.SpecVersion == "":
		return Delivery{}, lacks("specversion")
	case body.Type == "":
		return Delivery{}, lacks("type")
	case body.Data == nil:
		return Delivery{}, lacks("data")
	}
	hint := body.Data.hint(body.Source)
	if hint.Image.Path == "" {
		return ignored(body.Type, "the event names no repository of images")
	}
	return Delivery{ID: body.ID, EventType: body.Type, Events: []event.Event{hint}}, nil
}
