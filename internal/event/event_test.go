package event_test

import (
	"strings"
	"testing"

	"promoter/internal/event"
	"promoter/internal/image"
)

func repository(t *testing.T, text string) image.Repository {
	t.Helper()
	r, err := image.ParseRepository(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestImage_Is(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		said event.Image
		of   string
		want bool
	}{
		{"the same", event.Image{Host: "quay.io", Path: "acme/web"}, "quay.io/acme/web", true},
		{"another host", event.Image{Host: "quay.io", Path: "acme/web"}, "ghcr.io/acme/web", false},
		{"another path", event.Image{Host: "quay.io", Path: "acme/web-b"}, "quay.io/acme/web", false},
		{"the names of Docker Hub are one", event.Image{Host: "docker.io", Path: "library/nginx"}, "nginx", true},
		{"no host said", event.Image{Path: "acme/web"}, "registry.example.com:5000/acme/web", true},
		{"no host said, another path", event.Image{Path: "web"}, "registry.example.com:5000/acme/web", false},
		{"no image at all", event.Image{Host: "quay.io", Path: "Acme//web"}, "quay.io/acme/web", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.said.Matches(repository(t, test.of)); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestEvent_Valid(t *testing.T) {
	t.Parallel()
	acme := event.Repository{Host: "github.com", Name: "acme/gitops"}
	for _, test := range []struct {
		name  string
		event event.Event
		want  bool
	}{
		{"nothing", event.Event{}, false},
		{"an image", event.Event{Kind: event.KindImage, Image: event.Image{Host: "quay.io", Path: "acme/web", Tag: "1"}}, true},
		{"an image of an unknown host", event.Event{Kind: event.KindImage, Image: event.Image{Path: "acme/web"}}, true},
		{"an image without a path", event.Event{Kind: event.KindImage, Image: event.Image{Host: "quay.io"}}, false},
		{"what is no image", event.Event{Kind: event.KindImage, Image: event.Image{Host: "quay io", Path: "acme/web"}}, false},
		{"a tag over several lines", event.Event{Kind: event.KindImage, Image: event.Image{Path: "acme/web", Tag: "1\n2"}}, false},
		{"a tag that is no text", event.Event{Kind: event.KindImage, Image: event.Image{Path: "acme/web", Tag: "1\xff"}}, false},
		{"a health of something", event.Event{Kind: event.KindHealth, Subject: "kustomization/flux-system/web"}, true},
		{"a health of nothing", event.Event{Kind: event.KindHealth}, false},
		{"an installation nowhere", event.Event{Kind: event.KindInstallation}, false},
		{"a long text", event.Event{Kind: event.KindImage, Image: event.Image{Path: strings.Repeat("a", 600)}}, false},
		{"a push", event.Event{Kind: event.KindRepository, Repository: acme}, true},
		{"a push to nothing", event.Event{Kind: event.KindRepository, Repository: event.Repository{Host: "github.com"}}, false},
		{"only an id", event.Event{Kind: event.KindRelease, Repository: event.Repository{Host: "github.com", ID: "7"}}, true},
		{"an installation", event.Event{Kind: event.KindInstallation, Repository: event.Repository{Host: "github.com"}}, true},
		{"another kind", event.Event{Kind: "weather", Repository: acme}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.event.Valid(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
