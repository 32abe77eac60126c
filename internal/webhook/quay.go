package webhook

import "strings"

// quayHost is where a notification comes from that does not say.
const quayHost = "quay.io"

// quay reads the notification "Push to Repository": one for all tags of a push.
// https://docs.quay.io/guides/notifications.html
func quay(r Request) (Delivery, error) {
	push, err := read[struct {
		Repository string   `json:"repository"` // NAMESPACE/NAME
		DockerURL  string   `json:"docker_url"` // with the host
		Tags       []string `json:"updated_tags"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	address := strings.TrimPrefix(strings.TrimPrefix(push.DockerURL, "https://"), "http://")
	host, path, found := strings.Cut(address, "/")
	if !found {
		host, path = quayHost, push.Repository
	}
	if path == "" {
		return Delivery{}, lacks("repository")
	}
	if len(push.Tags) == 0 {
		return ignored("push", "it names no tags")
	}
	d := Delivery{Event: "push"}
	for _, tag := range push.Tags {
		d.Hints = append(d.Hints, imageHint(host, path, tag, ""))
	}
	return d, nil
}
