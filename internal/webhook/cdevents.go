package webhook

import (
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/image"
)

// cdEvent is an event of CDEvents, by itself or as the data of a CloudEvent.
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
	told := e.cdEvent
	if e.Data != nil {
		told = *e.Data
	}
	kind := told.Context.Type
	switch {
	case kind == "":
		return Delivery{}, lacks("context.type")
	case !strings.HasPrefix(kind, "dev.cdevents.artifact.published.") && !strings.HasPrefix(kind, "dev.cdevents.artifact.packaged."):
		return ignored(kind, "only published artifacts matter")
	}
	hint, ok := packageHint(told.Subject.ID)
	if !ok {
		return ignored(kind, "the artifact is no container image with a repository_url")
	}
	return Delivery{ID: told.Context.ID, EventType: kind, Events: []event.Event{hint}}, nil
}

// packageHint reads the package URL of an image: of the types oci, whose
// repository_url is the whole repository, and docker, whose it is the host.
// https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md
// https://github.com/package-url/purl-spec/blob/main/types-doc/docker-definition.md
func packageHint(text string) (event.Event, bool) {
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
	hint, ok := referenceHint(where)
	tag, digest := values.Get("tag"), ""
	switch {
	case image.ValidDigest(version):
		digest = version
	case !strings.Contains(version, ":"): // else a digest that was cut short
		tag = firstOf(tag, version)
	}
	if strings.Contains(tag, ":") {
		tag = ""
	}
	hint.Image.Tag, hint.Image.Digest = tag, digest
	return hint, ok
}

// packageName takes pkg:TYPE/PATH apart; the slashes of a URL are put up with.
func packageName(name string) (kind, path string, ok bool) {
	scheme, rest, found := strings.Cut(name, ":")
	kind, path, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
	path, err := url.PathUnescape(path)
	return strings.ToLower(kind), path, found && err == nil && strings.EqualFold(scheme, "pkg") && path != ""
}
