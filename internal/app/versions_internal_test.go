package app

import (
	"context"
	"testing"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion/engine"
	"promoter/internal/registry"
	"promoter/internal/scm"
)

// fakeVersions answers by tag.
type fakeVersions struct {
	Versions
	tags map[string]string
}

func (f fakeVersions) Select(_ context.Context, request registry.Request) (registry.Selection, error) {
	tag, _ := request.Policy.Moving()
	if digest, ok := f.tags[tag]; ok {
		return registry.Selection{Version: image.Version{Tag: tag, Digest: digest}, Found: true}, nil
	}
	return registry.Selection{Waiting: []registry.Because{{Tag: tag, Reason: "no image yet"}}}, nil
}

type fakeReleases []scm.Release

func (f fakeReleases) Releases(_ context.Context, _ string, limit int) ([]scm.Release, error) {
	return f[:min(len(f), limit)], nil
}

func TestOffer_S11_aReleaseWaitsForItsImage(t *testing.T) {
	t.Parallel()
	policy, err := image.NewPolicy(image.Selection{Release: "github/acme/web", Exclude: []string{`^v2\.1`}})
	if err != nil {
		t.Fatal(err)
	}
	list := fakeReleases{{Tag: "v4.0.0-rc", Prerelease: true}, {Tag: "v3.0.0"}, {Tag: "v2.1.0"}, {Tag: "v2.0.0"}}
	v := laneVersions{
		versions: fakeVersions{tags: map[string]string{"v2.0.0": "sha256:2", "v2.1.0": "sha256:21", "v4.0.0-rc": "sha256:4"}},
		check:    func(identity.RepositoryKey, image.Repository) error { return nil },
		releases: func(string) (scm.Releases, string, error) { return list, "acme/web", nil },
	}
	offer := v.Offer(t.Context(), engine.Ask{Name: "web", Policy: policy})
	if offer.Err != nil || !offer.Found || offer.Version.Tag != "v2.0.0" {
		t.Fatalf("got %+v, want the newest release that has an image", offer)
	}
	if len(offer.Waiting) != 1 || offer.Waiting[0].Version.Tag != "v3.0.0" || offer.Waiting[0].Condition.Reason != "no image yet" {
		t.Errorf("waiting: %+v, want the release without an image, with the reason", offer.Waiting)
	}
}

func TestOffer_S11_noReleaseSaysWhy(t *testing.T) {
	t.Parallel()
	policy, err := image.NewPolicy(image.Selection{Release: "github/acme/web"})
	if err != nil {
		t.Fatal(err)
	}
	for want, list := range map[string]fakeReleases{
		"github/acme/web has no releases":               {},
		"no release may be taken yet: v1: no image yet": {{Tag: "v1"}},
		"none of 1 releases of github/acme/web fits: prereleases, excluded ones and names that no image can have are not taken": {{Tag: "a b"}},
	} {
		v := laneVersions{
			versions: fakeVersions{}, check: func(identity.RepositoryKey, image.Repository) error { return nil },
			releases: func(string) (scm.Releases, string, error) { return list, "acme/web", nil },
		}
		if offer := v.Offer(t.Context(), engine.Ask{Name: "web", Policy: policy}); offer.Found || offer.Reason != want {
			t.Errorf("got %+v, want %q", offer, want)
		}
	}
}
