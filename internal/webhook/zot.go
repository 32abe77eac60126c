package webhook

import "promoter/internal/event"

// zot reads an event of a zot registry, a CloudEvent whose attributes are headers.
// It does not tell under which host the registry is reached: any is meant.
// https://zotregistry.dev/latest/articles/events/
func zot(r Request) (Delivery, error) {
	happened := r.Header.Get("Ce-Type")
	switch happened {
	case "":
		return Delivery{}, lacks("header Ce-Type")
	case "zotregistry.image.updated":
	default:
		return ignored(happened, "only updated images matter")
	}
	updated, err := read[struct {
		Name      string `json:"name"`
		Reference string `json:"reference"` // a tag, or a digest
		Digest    string `json:"digest"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	if updated.Name == "" {
		return Delivery{}, lacks("name")
	}
	hint := imageHint("", updated.Name, updated.Reference, updated.Digest)
	return Delivery{ID: r.Header.Get("Ce-Id"), Event: happened, Hints: []event.Hint{hint}}, nil
}
