package webhook

import (
	"strings"

	"promoter/internal/event"
)

// zotUpdate is the data of an event.
type zotUpdate struct {
	Name      string `json:"name"`
	Reference string `json:"reference"` // a tag, or a digest
	Digest    string `json:"digest"`
}

// zot decodes an event of a zot registry, a CloudEvent whose attributes are headers, or
// fields next to `data`. The type ends in image.updated after a configurable prefix. The
// source is configurable too: if it is a URL, its host is the registry's; otherwise the event
// matches any host.
// https://zotregistry.dev/v2.1.21/articles/events/
func zot(r Request) (Delivery, error) {
	body, err := read[struct {
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
	name := firstOf(r.Header.Get("Ce-Type"), body.Type)
	switch {
	case name == "":
		return Delivery{}, missing("header Ce-Type")
	case !strings.HasSuffix(name, ".image.updated"):
		return ignored(name, "only updated images matter")
	case err != nil:
		return Delivery{}, err
	case updated.Name == "":
		return Delivery{}, missing("name")
	}
	e := imageEvent(hostOf(firstOf(r.Header.Get("Ce-Source"), body.Source)), updated.Name, updated.Reference, updated.Digest)
	return Delivery{ID: firstOf(r.Header.Get("Ce-Id"), body.ID), EventType: name, Events: []event.Event{e}}, nil
}
