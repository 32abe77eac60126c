package registries

import (
	"cmp"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// zotUpdate is the data of an event.
type zotUpdate struct {
	Name      string `json:"name"`
	Reference string `json:"reference"` // a tag, or a digest
	Digest    string `json:"digest"`
}

// Zot decodes an event of a zot registry, a CloudEvent whose attributes are headers, or
// fields next to `data`. The type ends in image.updated after a configurable prefix. The
// source is configurable too: if it is a URL, its host is the registry's; otherwise the event
// matches any host.
// https://zotregistry.dev/v2.1.21/articles/events/
func Zot(r payload.Request) (payload.Delivery, error) {
	body, err := payload.Read[struct {
		zotUpdate
		ID     string     `json:"id"`
		Type   string     `json:"type"`
		Source string     `json:"source"`
		Data   *zotUpdate `json:"data"`
	}](r)
	updated := body.zotUpdate
	if body.Data != nil {
		updated = *body.Data
	}
	name := cmp.Or(r.Header.Get("Ce-Type"), body.Type)
	switch {
	case name == "":
		return payload.Delivery{}, payload.Missing("header Ce-Type")
	case !strings.HasSuffix(name, ".image.updated"):
		return payload.Ignored(name, "only updated images matter")
	case err != nil:
		return payload.Delivery{}, err
	case updated.Name == "":
		return payload.Delivery{}, payload.Missing("name")
	}
	e := payload.ImageEvent(payload.HostOf(cmp.Or(r.Header.Get("Ce-Source"), body.Source)), updated.Name, updated.Reference, updated.Digest)
	return payload.Delivery{ID: cmp.Or(r.Header.Get("Ce-Id"), body.ID), EventType: name, Events: []event.Event{e}}, nil
}
