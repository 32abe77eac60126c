// Package payload is what the senders of webhooks have in common: a request, what is decoded from
// it, and the functions that decoders are made of.
//
// A payload is never data: an event names what may have changed, and everything else is requested
// from the registry or the forge. Reports about health are the exception.
package payload

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/snapshot"
)

// Request is the posted request.
type Request struct {
	Header     http.Header
	PathSecret string // the segment of the URL after the name of the receiver
	Body       []byte // bounded by the server
}

// Delivery is a decoded request.
type Delivery struct {
	// ID is the sender's ID of the delivery, which a redelivery keeps; the hash of the
	// body where the sender has none.
	ID string
	// EventType is the sender's name for the event.
	EventType string
	// Events are the valid, distinct events of the request.
	Events []event.Event
	// Reports are about the health of environments. Each has an event at least.
	Reports []evidence.Report
	// Snapshot is what a pipeline posted; nil: it is not a delivery of this kind.
	Snapshot *snapshot.Snapshot
	// Ignored is the reason why there are no events.
	Ignored string
}

// Read decodes the body. Unknown fields are ignored: senders add some in later versions.
func Read[T any](r Request) (T, error) {
	var body T
	if err := json.Unmarshal(r.JSON(), &body); err != nil {
		return body, fault.JSON(err)
	}
	return body, nil
}

// JSON returns the JSON of a request. GitHub and Gitea can post it as a field of a
// form; for GitHub this is the default.
// https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
func (r Request) JSON() []byte {
	if inForm, ok := r.FormJSON(); ok {
		return inForm
	}
	return r.Body
}

// FormJSON returns the JSON in a field of a form, if the request is one.
func (r Request) FormJSON() ([]byte, bool) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return nil, false
	}
	form, err := url.ParseQuery(string(r.Body))
	return []byte(form.Get("payload")), err == nil && form.Has("payload")
}

// Sent returns the first of some headers that the request has; empty for none.
func (r Request) Sent(headers ...string) string {
	i := slices.IndexFunc(headers, func(name string) bool { return r.Header.Get(name) != "" })
	if i < 0 {
		return ""
	}
	return r.Header.Get(headers[i])
}

// Missing is the error of a request without a required field.
func Missing(what string) error { return fault.New(fault.Invalid, "it has no %s", what) }

// Ignored is the delivery of an event that is not relevant.
func Ignored(name, why string) (Delivery, error) {
	return Delivery{EventType: name, Ignored: why}, nil
}

// ImageEvent is an event of an image; an empty host matches any. Several senders write the
// digest in the place of a missing tag.
func ImageEvent(host, path, tag, digest string) event.Event {
	if strings.Contains(tag, ":") { // which no tag has
		tag, digest = "", cmp.Or(digest, tag)
	}
	return event.Event{Kind: event.KindImage, Image: event.Image{Host: strings.ToLower(host), Path: path, Tag: tag, Digest: digest}}
}

// ReferenceEvent is an event of the image that a reference names.
func ReferenceEvent(text string) (event.Event, bool) {
	if _, rest, found := strings.Cut(text, "://"); found { // docker://, oci://, https://
		text = rest
	}
	r, err := image.Parse(text)
	if err != nil {
		return event.Event{}, false
	}
	return ImageEvent(r.Repository.Host(), r.Repository.Path(), r.Tag, r.Digest), true
}

// CloneEvents returns an event for each address of a repository that plain Git clones from:
// promoter may know it by any of them.
func CloneEvents(addresses ...string) []event.Event {
	var events []event.Event
	for _, address := range addresses {
		key, err := identity.GitKey(address)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(key), "://")
		host, name, _ := strings.Cut(rest, "/")
		events = append(events, event.Event{Kind: event.KindRepository, Repository: event.Repository{Host: host, Name: name}})
	}
	return events
}

// HostOf returns the host of the first URL that has one, with its port unless it is the default
// one; empty for other texts.
func HostOf(addresses ...string) string {
	for _, address := range addresses {
		parsed, err := url.Parse(address)
		if err != nil {
			continue
		}
		if host := evidence.HostOf(parsed); host != "" {
			return host
		}
	}
	return ""
}
