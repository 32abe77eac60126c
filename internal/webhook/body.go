package webhook

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// read decodes the body. What a sender adds in later versions is of no interest.
func read[T any](r Request) (T, error) {
	var body T
	if err := json.Unmarshal(r.payload(), &body); err != nil {
		return body, unreadable(err)
	}
	return body, nil
}

// unreadable is an error of JSON in words that tell nothing of Go.
func unreadable(err error) error {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "its JSON is of another form: %s may not be of the type %s", firstOf(typed.Field, "all of it"), typed.Value)
	}
	return fault.New(fault.Invalid, "its body is no JSON: %w", err)
}

// payload is the JSON of a request. GitHub and Gitea post it as a field of a form if
// they are told to, GitHub also if it is told nothing.
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

// lacks says that a request misses what every one of its kind has.
func lacks(what string) error { return fault.New(fault.Invalid, "it has no %s", what) }

// ignored is a request that means nothing to us.
func ignored(happened, why string) (Delivery, error) {
	return Delivery{EventType: happened, Ignored: why}, nil
}

// imageHint is about an image; an empty host may be any. Several senders write the
// digest for the tag where there is none.
func imageHint(host, path, tag, digest string) event.Event {
	if strings.Contains(tag, ":") { // which no tag has
		tag, digest = "", firstOf(digest, tag)
	}
	return event.Event{Kind: event.KindImage, Image: event.Image{Host: strings.ToLower(host), Path: path, Tag: tag, Digest: digest}}
}

// referenceHint is about an image that stands there as one reference.
func referenceHint(text string) (event.Event, bool) {
	if _, rest, found := strings.Cut(text, "://"); found { // docker://, oci://, https://
		text = rest
	}
	r, err := image.Parse(text)
	if err != nil {
		return event.Event{}, false
	}
	return imageHint(r.Repository.Host(), r.Repository.Path(), r.Tag, r.Digest), true
}

// hostOf returns the host of a URL, with its port unless it is the usual one; empty
// where it is none.
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
