package webhook

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"promoter/internal/command"
	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
)

// read decodes the body. Unknown fields are ignored: senders add some in later versions.
func read[T any](r Request) (T, error) {
	var body T
	if err := json.Unmarshal(r.payload(), &body); err != nil {
		return body, unreadable(err)
	}
	return body, nil
}

// unreadable returns a JSON error without names of Go types.
func unreadable(err error) error {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "its JSON has an unexpected form: %s must not be of the type %s", firstOf(typed.Field, "all of it"), typed.Value)
	}
	return fault.New(fault.Invalid, "its body is not JSON: %w", err)
}

// payload returns the JSON of a request. GitHub and Gitea can post it as a field of a
// form; for GitHub this is the default.
// https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
func (r Request) payload() []byte {
	if inForm, ok := r.formPayload(); ok {
		return inForm
	}
	return r.Body
}

func (r Request) formPayload() ([]byte, bool) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return nil, false
	}
	form, err := url.ParseQuery(string(r.Body))
	return []byte(form.Get("payload")), err == nil && form.Has("payload")
}

// missing is the error of a request without a required field.
func missing(what string) error { return fault.New(fault.Invalid, "it has no %s", what) }

// ignored is the delivery of an event that is not relevant.
func ignored(name, why string) (Delivery, error) {
	return Delivery{EventType: name, Ignored: why}, nil
}

// imageEvent is an event of an image; an empty host matches any. Several senders write the
// digest in the place of a missing tag.
func imageEvent(host, path, tag, digest string) event.Event {
	if strings.Contains(tag, ":") { // which no tag has
		tag, digest = "", firstOf(digest, tag)
	}
	return event.Event{Kind: event.KindImage, Image: event.Image{Host: strings.ToLower(host), Path: path, Tag: tag, Digest: digest}}
}

// referenceEvent is an event of the image that a reference names.
func referenceEvent(text string) (event.Event, bool) {
	if _, rest, found := strings.Cut(text, "://"); found { // docker://, oci://, https://
		text = rest
	}
	r, err := image.Parse(text)
	if err != nil {
		return event.Event{}, false
	}
	return imageEvent(r.Repository.Host(), r.Repository.Path(), r.Tag, r.Digest), true
}

// cloneEvents returns an event for each address of a repository that plain Git clones from:
// promoter may know it by any of them.
func cloneEvents(addresses ...string) []event.Event {
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

// hostOf returns the host of a URL, with its port unless it is the default one; empty for
// other texts.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(parsed.Host)
	switch strings.ToLower(parsed.Scheme) {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// newComment is a comment in the event of its creation, with the text that its author sent.
type newComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
}

// digest returns that of the command; empty for an event without the text.
func (c newComment) digest() string {
	if c.Body == "" {
		return ""
	}
	return command.Digest(c.Body)
}
