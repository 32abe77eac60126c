package event_test

import (
	"testing"

	"promoter/internal/event"
)

func TestEvent_String(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"image quay.io/acme/web:1@sha256:00":  {Kind: event.KindImage, Image: event.Image{Host: "quay.io", Path: "acme/web", Tag: "1", Digest: "sha256:00"}},
		"image */acme/web":                    {Kind: event.KindImage, Image: event.Image{Path: "acme/web"}},
		"repository github.com/acme/gitops":   {Kind: event.KindRepository, Repository: event.Repository{Host: "github.com", Name: "acme/gitops"}},
		"installation github.com":             {Kind: event.KindInstallation, Repository: event.Repository{Host: "github.com"}},
		"health application/argocd/shop-prod": {Kind: event.KindHealth, Subject: "application/argocd/shop-prod"},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
