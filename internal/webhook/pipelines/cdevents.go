package pipelines

import (
	"cmp"
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/image"
	"promoter/internal/webhook/payload"
)

// cdEvent is a CDEvents event, posted directly or as the data of a CloudEvent.
// https://github.com/cdevents/spec/blob/main/continuous-integration.md
type cdEvent struct {
	Context struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"context"`
	Subject struct {
		ID string `json:"id"` // a package URL
	} `json:"subject"`
}

// CDEvents decodes the event of a published or packaged artifact.
func CDEvents(r payload.Request) (payload.Delivery, error) {
	e, err := payload.Read[struct {
		cdEvent
		Data *cdEvent `json:"data"`
	}](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	body := e.cdEvent
	if e.Data != nil {
		body = *e.Data
	}
	kind := body.Context.Type
	switch {
	case kind == "":
		return payload.Delivery{}, payload.Missing("context.type")
	case !strings.HasPrefix(kind, "dev.cdevents.artifact.published.") && !strings.HasPrefix(kind, "dev.cdevents.artifact.packaged."):
		return payload.Ignored(kind, "only published artifacts matter")
	}
	published, ok := packageEvent(body.Subject.ID)
	if !ok {
		return payload.Ignored(kind, "the artifact is not a container image with a repository_url")
	}
	return payload.Delivery{ID: body.Context.ID, EventType: kind, Events: []event.Event{published}}, nil
}

// packageEvent parses the package URL of an image: of the type oci, whose repository_url is
// the whole repository, or docker, whose repository_url is the host.
// https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md
// https://github.com/package-url/purl-spec/blob/main/types-doc/docker-definition.md
func packageEvent(text string) (event.Event, bool) {
	text, _, _ = strings.Cut(text, "#")
	rest, query, _ := strings.Cut(text, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return event.Event{}, false
	}
	name, version, _ := strings.Cut(rest, "@")
	kind, path, ok := packageName(name)
	if version, err = url.PathUnescape(version); err != nil || !ok {
		return event.Event{}, false
	}
	where := strings.TrimSuffix(values.Get("repository_url"), "/")
	switch {
	case kind == "docker" && where != "":
		where += "/" + path
	case kind == "docker":
		where = path
	case kind != "oci" || where == "":
		return event.Event{}, false
	}
	e, ok := payload.ReferenceEvent(where)
	tag, digest := values.Get("tag"), ""
	switch {
	case image.ValidDigest(version):
		digest = version
	case !strings.Contains(version, ":"): // else a truncated digest
		tag = cmp.Or(tag, version)
	}
	if strings.Contains(tag, ":") {
		tag = ""
	}
	e.Image.Tag, e.Image.Digest = tag, digest
	return e, ok
}

// packageName splits pkg:TYPE/PATH; slashes before the type are tolerated.
func packageName(name string) (kind, path string, ok bool) {
	scheme, rest, found := strings.Cut(name, ":")
	kind, path, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
	path, err := url.PathUnescape(path)
	return strings.ToLower(kind), path, found && err == nil && strings.EqualFold(scheme, "pkg") && path != ""
}
