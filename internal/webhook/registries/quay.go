package registries

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"promoter/internal/webhook/payload"
)

// quayHost is the host of a notification without one.
const quayHost = "quay.io"

// Quay decodes the notification "Push to Repository": one for all tags of a push.
// https://docs.quay.io/guides/notifications.html
func Quay(r payload.Request) (payload.Delivery, error) {
	push, err := payload.Read[struct {
		Repository string   `json:"repository"` // NAMESPACE/NAME
		DockerURL  string   `json:"docker_url"` // with the host
		Tags       quayTags `json:"updated_tags"`
	}](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	address := push.DockerURL
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	host, path, found := strings.Cut(strings.Trim(address, "/"), "/")
	if !found {
		host, path = quayHost, push.Repository
	}
	if path == "" {
		return payload.Delivery{}, payload.Missing("repository")
	}
	if len(push.Tags) == 0 {
		return payload.Ignored("push", "it names no tags")
	}
	d := payload.Delivery{EventType: "push"}
	for _, tag := range push.Tags {
		d.Events = append(d.Events, payload.ImageEvent(host, path, tag, ""))
	}
	return d, nil
}

// quayTags is a list of tags; older releases of Quay post an object of tags and image IDs.
// https://docs.quay.io/guides/notifications.html
type quayTags []string

// UnmarshalJSON decodes both forms.
func (t *quayTags) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err == nil {
		*t = list
		return nil
	}
	var ids map[string]json.RawMessage
	if err := json.Unmarshal(data, &ids); err != nil {
		return err //nolint:wrapcheck // read words it
	}
	*t = slices.Sorted(maps.Keys(ids))
	return nil
}
