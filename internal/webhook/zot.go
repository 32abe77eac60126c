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

// zot reads an event of a zot registry, a CloudEvent whose attributes are headers, or
// fields beside `data`. The type ends in image.updated behind a prefix that can be
// configured, as can the source: only as a URL does it tell under which host the
// registry is reached. Else any is meant.
// https://zotregistry.dev/v2.1.21/articles/events/
func zot(r Request) (Delivery, error) {
	told, err := read[struct {
		zotUpdate
		ID     string     `json:"id"`
		Type   string     `json:"type"`
		Source string     `json:"source"`
		Data   *zotUpdate `json:"data"`
	}](r)
	updated := told.zotUpdate
	if told.Data != nil {
		updated = *told.Data
	}
	happened := firstOf(r.Header.Get("Ce-Type"), told.Type)
	switch {
	case happened == "":
		return Delivery{}, lacks("header Ce-Type")
	case !strings.HasSuffix(happened, ".image.updated"):
		return ignored(happened, "only updated images matter")
	case err != nil:
		return Delivery{}, err
	case updated.Name == "":
		return Delivery{}, lacks("name")
	}
	hint := imageHint(hostOf(firstOf(r.Header.Get("Ce-Source"), told.Source)), updated.Name, updated.Reference, updated.Digest)
	return Delivery{ID: firstOf(r.Header.Get("Ce-Id"), told.ID), EventType: happened, Events: []event.Event{hint}}, nil
}
