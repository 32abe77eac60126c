package webhook

import (
	"slices"
	"strings"

	"promoter/internal/event"
)

// harborPush says whether something was pushed: PUSH_ARTIFACT, pushImage in version 1, by
// themselves or as CloudEvents. Of a tag that an artifact gets later, releases up to 2.13
// have the name of the event and send none.
// https://goharbor.io/docs/2.13.0/working-with-projects/project-configuration/configure-webhooks/
// https://github.com/goharbor/harbor/blob/main/src/pkg/notifier/formats/cloudevents.go
func harborPush(happened string) bool {
	return slices.Contains([]string{"PUSH_ARTIFACT", "harbor.artifact.pushed", "pushImage", "CREATE_TAG", "harbor.tag.created"}, happened)
}

// harborData is the content of both formats.
type harborData struct {
	Resources []struct {
		Digest string `json:"digest"`
		Tag    string `json:"tag"`          // the digest where there is none
		URL    string `json:"resource_url"` // HOST/PROJECT/NAME:TAG, without a scheme
	} `json:"resources"`
	Repository struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		FullName  string `json:"repo_full_name"`
	} `json:"repository"`
}

// harbor reads a notification of a Harbor project. One may have several resources.
func harbor(r Request) (Delivery, error) {
	told, err := read[struct {
		Type  string      `json:"type"`
		Data  harborData  `json:"event_data"`
		ID    string      `json:"id"`   // of a CloudEvent
		Cloud *harborData `json:"data"` // of a CloudEvent
	}](r)
	if told.Cloud != nil {
		told.Data = *told.Cloud
	}
	switch {
	case err != nil:
		return Delivery{}, err
	case told.Type == "":
		return Delivery{}, lacks("type")
	case !harborPush(told.Type):
		return ignored(told.Type, "only pushes matter")
	case len(told.Data.Resources) == 0:
		return Delivery{}, lacks("event_data.resources")
	}
	return Delivery{ID: told.ID, EventType: told.Type, Events: told.Data.hints()}, nil
}

func (d harborData) hints() []event.Event {
	path := firstOf(d.Repository.FullName, strings.Trim(d.Repository.Namespace+"/"+d.Repository.Name, "/"))
	var hints []event.Event
	for _, resource := range d.Resources {
		host, where := "", path
		if hint, ok := referenceHint(resource.URL); ok && strings.Contains(resource.URL, "/") {
			host, where = hint.Image.Host, hint.Image.Path
		}
		hints = append(hints, imageHint(host, where, resource.Tag, resource.Digest))
	}
	return hints
}
