package workspace

import (
	"context"
	"errors"
	"testing"
	"time"

	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/observe"
	"promoter/internal/registry"
	"promoter/internal/scm"
)

// fakeVersions answers by tag.
type fakeVersions struct {
	registryView
	tags map[string]string
}

func (f fakeVersions) Select(_ context.Context, request registry.Request) (registry.Selection, error) {
	tag, _ := request.Policy.Moving()
	if digest, ok := f.tags[tag]; ok {
		return registry.Selection{Version: image.Version{Tag: tag, Digest: digest}, Found: true}, nil
	}
	return registry.Selection{Ineligible: []registry.Ineligible{{Tag: tag, Reason: "no image yet"}}}, nil
}

type fakeReleases []scm.Release

func (fakeReleases) Release(context.Context, string, string) (scm.Release, error) {
	return scm.Release{}, errors.New("not asked")
}

func (f fakeReleases) Releases(_ context.Context, _ string, limit int) ([]scm.Release, error) {
	return f[:min(len(f), limit)], nil
}

func TestOffer_aReleaseWaitsForItsImage(t *testing.T) {
	t.Parallel()
	policy, err := image.NewPolicy(image.Selection{Release: "github/acme/web", Exclude: []string{`^v2\.1`}})
	if err != nil {
		t.Fatal(err)
	}
	list := fakeReleases{{Tag: "v4.0.0-rc", Prerelease: true}, {Tag: "v3.0.0"}, {Tag: "v2.1.0"}, {Tag: "v2.0.0"}}
	v := versions{
		registry: fakeVersions{tags: map[string]string{"v2.0.0": "sha256:2", "v2.1.0": "sha256:21", "v4.0.0-rc": "sha256:4"}},
		check:    func(identity.RepositoryKey, image.Repository) error { return nil },
		releases: func(string) (scm.Releases, string, error) { return list, "acme/web", nil },
		now:      time.Now, fresh: &freshness{},
	}
	available := v.Select(t.Context(), observe.VersionRequest{Name: "web", Policy: policy})
	if available.Err != nil || !available.Found || available.Version.Tag != "v2.0.0" {
		t.Fatalf("got %+v, want the newest release that has an image", available)
	}
	if len(available.Held) != 1 || available.Held[0].Version.Tag != "v3.0.0" || available.Held[0].Condition.Reason != "no image yet" {
		t.Errorf("waiting: %+v, want the release without an image, with the reason", available.Held)
	}
}

func TestOffer_noReleaseSaysWhy(t *testing.T) {
	t.Parallel()
	policy, err := image.NewPolicy(image.Selection{Release: "github/acme/web"})
	if err != nil {
		t.Fatal(err)
	}
	for want, list := range map[string]fakeReleases{
		"github/acme/web has no releases":              {},
		"no release is eligible yet: v1: no image yet": {{Tag: "v1"}},
		"none of 1 releases of github/acme/web is eligible: prereleases, excluded releases, names that are not valid tags, and releases without an image for a week are skipped": {{Tag: "a b"}},
	} {
		v := versions{
			registry: fakeVersions{}, check: func(identity.RepositoryKey, image.Repository) error { return nil },
			releases: func(string) (scm.Releases, string, error) { return list, "acme/web", nil },
			now:      time.Now, fresh: &freshness{},
		}
		if available := v.Select(t.Context(), observe.VersionRequest{Name: "web", Policy: policy}); available.Found || available.Reason != want {
			t.Errorf("got %+v, want %q", available, want)
		}
	}
}

// A release whose image does not come is waited for a week, and then no more.
func TestOffer_aReleaseIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	policy, err := image.NewPolicy(image.Selection{Release: "github/acme/web"})
	if err != nil {
		t.Fatal(err)
	}
	published := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	list := fakeReleases{{Tag: "v3.0.0", Published: published}, {Tag: "v2.0.0", Published: published.Add(-time.Hour)}}
	for after, want := range map[time.Duration]string{
		releaseTimeout - time.Second: "no image yet; waiting for it until 2026-03-08 12:00 UTC",
		releaseTimeout:               "",
	} {
		v := versions{
			registry: fakeVersions{tags: map[string]string{"v2.0.0": "sha256:2"}},
			check:    func(identity.RepositoryKey, image.Repository) error { return nil },
			releases: func(string) (scm.Releases, string, error) { return list, "acme/web", nil },
			fresh:    &freshness{}, now: func() time.Time { return published.Add(after) },
		}
		available := v.Select(t.Context(), observe.VersionRequest{Name: "web", Policy: policy})
		if available.Err != nil || available.Version.Tag != "v2.0.0" {
			t.Fatalf("after %s: %+v, want the release before", after, available)
		}
		words := ""
		for _, waiting := range available.Held {
			words += waiting.Condition.Reason
		}
		if words != want {
			t.Errorf("after %s it waits with %q, want %q", after, words, want)
		}
	}
}

// Of a version in a parent, the forge is asked whether it is a release.
func TestResolve_release(t *testing.T) {
	t.Parallel()
	list := fakeReleases{{Tag: "v3.0.0-rc", Prerelease: true}, {Tag: "v2.0.0"}, {Tag: "v1.0.0", Published: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	v := versions{
		check:    func(identity.RepositoryKey, image.Repository) error { return nil },
		releases: func(source string) (scm.Releases, string, error) { return list, source, nil },
	}
	for tag, want := range map[string]bool{"v1.0.0": true, "v2.0.0": true, "v3.0.0-rc": false, "evil": false} {
		version, err := v.Resolve(t.Context(), promotion.Lookup{Fact: promotion.Fact{Tag: tag, Release: "github/acme/web"}})
		if err != nil || version.Created.IsZero() == want {
			t.Errorf("%s: %+v, %v", tag, version, err)
		}
	}
}
