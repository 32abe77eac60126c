package notify

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// cdEventsVersion is the version of the specification.
// https://github.com/cdevents/spec/tree/v0.5.1
const cdEventsVersion = "0.5.1"

// cdEvents sends each event as a CDEvent in a CloudEvent, in the binary mode of HTTP.
// https://github.com/cdevents/spec/blob/v0.5.1/cloudevents-binding.md
type cdEvents struct {
	signed signed
	source string
}

// NewCloudEvents returns the sender of CDEvents. The source is the URL of promoter; empty: not
// known.
func NewCloudEvents(o SignedOptions, source string) (Sender, error) {
	s, err := newSigned("cloudevents", o)
	return cdEvents{s, cmp.Or(source, "/promoter")}, err
}

// cdEvent is the JSON of one CDEvent.
type cdEvent struct {
	Context     cdContext   `json:"context"`
	Subject     cdSubject   `json:"subject"`
	CustomData  webhookData `json:"customData"`
	ContentType string      `json:"customDataContentType"`
}

type cdContext struct {
	Version   string    `json:"specversion"`
	ID        string    `json:"id"`
	Source    string    `json:"source"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Chain     string    `json:"chainId"`
}

type cdSubject struct {
	ID      string         `json:"id"`
	Content map[string]any `json:"content"`
}

// The types of the events. The specification has none for what is available or waits, and lets
// tools define their own.
const (
	cdAvailable  = "dev.cdeventsx.promoter-promotion.available.0.1.0"
	cdWaiting    = "dev.cdeventsx.promoter-promotion.waiting.0.1.0"
	cdCreated    = "dev.cdevents.change.created.0.4.0"
	cdMerged     = "dev.cdevents.change.merged.0.3.0"
	cdUpgraded   = "dev.cdevents.service.upgraded.0.3.0"
	cdDetected   = "dev.cdevents.incident.detected.0.3.0"
	cdRolledBack = "dev.cdevents.service.rolledback.0.3.0"
)

// Send implements Sender. An event about what runs is sent once for each component that changes,
// because a CDEvent has one artifact.
func (c cdEvents) Send(ctx context.Context, m Message, _ Receipt) (Receipt, error) {
	for _, event := range c.eventsOf(m) {
		header := http.Header{
			"Ce-Specversion": {"1.0"}, "Ce-Id": {event.Context.ID}, "Ce-Source": {event.Context.Source}, "Ce-Type": {event.Context.Type},
			"Ce-Subject": {event.Subject.ID}, "Ce-Time": {event.Context.Timestamp.Format(time.RFC3339)},
		}
		if err := c.signed.post(ctx, event.Context.ID, header, event); err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{}, nil
}

// Mode implements Sender.
func (cdEvents) Mode() Mode { return Streamed }

// Check implements Sender.
func (cdEvents) Check(context.Context) (string, error) { return checkSigned, nil }

func (c cdEvents) eventsOf(m Message) []cdEvent {
	last := m.Last()
	one := func(kind, id, subject string, content map[string]any) cdEvent {
		return cdEvent{
			Context: cdContext{
				Version: cdEventsVersion, ID: id, Source: c.source, Type: kind, Timestamp: last.At.UTC().Truncate(time.Second), Chain: m.ID,
			},
			Subject: cdSubject{ID: subject, Content: content}, CustomData: dataOf(m), ContentType: "application/json",
		}
	}
	repository := map[string]any{"id": m.Repository}
	change := func(kind string, content map[string]any) []cdEvent {
		subject := cmp.Or(m.PullRequest.URL, last.Commit, m.ID)
		return []cdEvent{one(kind, last.ID, subject, content)}
	}
	service := func(kind string, content func(Change) map[string]any) []cdEvent {
		var all []cdEvent
		for _, v := range m.Versions {
			all = append(all, one(kind, last.ID+"/"+v.Component, m.Application+"/"+v.Component, content(v)))
		}
		return all
	}
	environment := map[string]any{"id": m.Environment}
	switch last.State {
	case Version:
		return change(cdAvailable, map[string]any{})
	case Waiting:
		return change(cdWaiting, map[string]any{})
	case Proposed:
		return change(cdCreated, map[string]any{"description": headlineOf(m).String(), "repository": repository})
	case Landed:
		return change(cdMerged, map[string]any{"repository": repository})
	case Healthy:
		return service(cdUpgraded, func(v Change) map[string]any {
			return map[string]any{"environment": environment, "artifactId": purl(v, v.To, v.ToDigest)}
		})
	case Failed:
		return service(cdDetected, func(v Change) map[string]any {
			return map[string]any{
				"description": last.Reason, "environment": environment, "service": map[string]any{"id": m.Application + "/" + v.Component},
				"artifactId": purl(v, v.To, v.ToDigest),
			}
		})
	case Reverted:
		return service(cdRolledBack, func(v Change) map[string]any {
			return map[string]any{"environment": environment, "artifactId": purl(v, v.From, v.FromDigest)}
		})
	}
	return nil
}

// purl returns the package URL of an image.
// https://github.com/package-url/purl-spec/blob/main/types-doc/oci-definition.md
func purl(v Change, tag, digest string) string {
	text := "pkg:oci/" + url.PathEscape(strings.ToLower(cmp.Or(path.Base(v.Repository), v.Component)))
	if digest != "" {
		text += "@" + strings.ReplaceAll(digest, ":", "%3A")
	}
	query := url.Values{}
	if v.Repository != "" {
		query.Set("repository_url", v.Repository)
	}
	if tag != "" {
		query.Set("tag", tag)
	}
	if len(query) > 0 {
		text += fmt.Sprintf("?%s", query.Encode())
	}
	return text
}
