package landing_test

import (
	"testing"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
)

// What a close rejects is a text that is parsed again, also of an image without a digest.
func TestChangedBy_isParsed(t *testing.T) {
	t.Parallel()
	reference, err := image.Parse("quay.io/acme/web:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	target := promotion.Target{Environment: "prod", Application: "shop"}
	o := promotion.Observation{Targets: map[promotion.Target]promotion.Current{
		target: {References: []edit.Reference{{Component: "web", Repository: reference.Repository, Tag: "1.0.0", Form: edit.Form{Tag: true}}}},
	}}
	at := func(tag string) promotion.Landed {
		pinned := promotion.Pinned{Repository: reference.Repository, Version: image.Version{Tag: tag}}
		return promotion.Landed{Target: target, Snapshot: promotion.Snapshot{"web": pinned}}
	}
	if got := landing.ChangedBy(o, at("1.1.0"))["web"]; got != "quay.io/acme/web:1.1.0" {
		t.Errorf("changed: %q", got)
	}
	if got := landing.RewrittenBy(o, at("1.0.0"))["web"]; got != "quay.io/acme/web:1.0.0" {
		t.Errorf("rewritten: %q", got)
	}
}
