package webhook

import (
	"net/url"
	"strings"

	"promoter/internal/event"
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
	return Delivery{ID: told.Context.ID, Event: kind, Hints: []event.Hint{hint}}, nil
}

// packageHint reads the package URL of an image: of the types oci, whose
// repository_url is the whole repository, and docker, whose it is the host.
// https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md
func packageHint(text string) (event.Hint, bool) {
	rest, query, _ := strings.Cut(text, "?")
	values, err := url.ParseQuery(query)
	where := strings.TrimPrefix(values.Get("repository_url"), "https://")
	if err != nil {
		return event.Hint{}, false
	}
	name, version, _ := strings.Cut(rest, "@")
	if version, err = url.PathUnescape(version); err != nil {
		return event.Hint{}, false
	}
	if path, ok := strings.CutPrefix(name, "pkg:docker/"); ok {
		where = strings.TrimPrefix(where+"/"+path, "/")
	} else if !strings.HasPrefix(name, "pkg:oci/") {
		return event.Hint{}, false
	}
	hint, ok := referenceHint(where)
	hint.Image.Tag = values.Get("tag")
	if strings.HasPrefix(version, "sha256:") {
		hint.Image.Digest = version
	} else if hint.Image.Tag == "" {
		hint.Image.Tag = version
	}
	return hint, ok && where != ""
}
