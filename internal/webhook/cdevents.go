package webhook

import (
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/image"
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

func cdEvents(r Request) (Delivery, error) {
	e, err := read[struct {
		cdEvent
		Data *cdEvent `json:"data"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	body := e.cdEvent
	if e.Data != nil {
		body = *e.Data
	}
	kind := body.Context.Type
	switch {
	case kind == "":
		return Delivery{}, missing("context.type")
	case !strings.HasPrefix(kind, "dev.cdevents.artifact.published.") && !strings.HasPrefix(kind, "dev.cdevents.artifact.packaged."):
		return ignored(kind, "only published artifacts matter")
	}
	published, ok := packageEvent(body.Subject.ID)
	if !ok {
		return ignored(kind, "the artifact is not a container image with a repository_url")
	}
	return Delivery{ID: body.Context.ID, EventType: kind, Events: []event.Event{published}}, nil
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
	e, ok := referenceEvent(where)
	tag, digest := values.Get("tag"), ""
	switch {
	case image.ValidDigest(version):
		digest = version
	case !strings.Contains(version, ":"): // else a truncated digest
		tag = firstOf(tag, version)
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
