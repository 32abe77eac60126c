package registries

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// harborPush reports whether the event is a push: PUSH_ARTIFACT, pushImage in version 1,
// directly or as a CloudEvent. Releases up to 2.13 define an event for a tag that is added to an
// existing artifact but do not send it.
// https://goharbor.io/docs/2.13.0/working-with-projects/project-configuration/configure-webhooks/
// https://github.com/goharbor/harbor/blob/main/src/pkg/notifier/formats/cloudevents.go
func harborPush(name string) bool {
	return slices.Contains([]string{"PUSH_ARTIFACT", "harbor.artifact.pushed", "pushImage", "CREATE_TAG", "harbor.tag.created"}, name)
}

// harborData is the common content of both formats.
type harborData struct {
	Resources []struct {
		Digest string `json:"digest"`
		Tag    string `json:"tag"`          // the digest of an untagged image
		URL    string `json:"resource_url"` // HOST/PROJECT/NAME:TAG without a scheme, or without the host
	} `json:"resources"`
	Repository struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		FullName  string `json:"repo_full_name"`
	} `json:"repository"`
}

// Harbor decodes a notification of a Harbor project, which can have several resources.
func Harbor(r payload.Request) (payload.Delivery, error) {
	body, err := payload.Read[struct {
		Type  string      `json:"type"`
		Data  harborData  `json:"event_data"`
		ID    string      `json:"id"`   // of a CloudEvent
		Cloud *harborData `json:"data"` // of a CloudEvent
	}](r)
	if body.Cloud != nil {
		body.Data = *body.Cloud
	}
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case body.Type == "":
		return payload.Delivery{}, payload.Missing("type")
	case !harborPush(body.Type):
		return payload.Ignored(body.Type, "only pushes matter")
	case len(body.Data.Resources) == 0:
		return payload.Delivery{}, payload.Missing("event_data.resources")
	}
	return payload.Delivery{ID: body.ID, EventType: body.Type, Events: body.Data.events()}, nil
}

// events returns an event for each resource. One whose URL has no host matches any: a first
// segment without a dot and a colon is the project, and not, as in other references, a part
// of a name on Docker Hub.
func (d harborData) events() []event.Event {
	path := cmp.Or(d.Repository.FullName, strings.Trim(d.Repository.Namespace+"/"+d.Repository.Name, "/"))
	var events []event.Event
	for _, resource := range d.Resources {
		host, repository := "", path
		first, _, found := strings.Cut(resource.URL, "/")
		hasHost := strings.ContainsAny(first, ".:") || first == "localhost"
		if e, ok := payload.ReferenceEvent(resource.URL); ok && found && hasHost {
			host, repository = e.Image.Host, e.Image.Path
		} else if ok && found {
			repository = cmp.Or(path, e.Image.Path)
		}
		events = append(events, payload.ImageEvent(host, repository, resource.Tag, resource.Digest))
	}
	return events
}
