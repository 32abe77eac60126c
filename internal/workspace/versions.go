package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/observe"
	"promoter/internal/registry"
	"promoter/internal/scm"
	"promoter/internal/signature"
)

// versions queries the registries with the credentials of the repository. It implements
// observe.Registries.
type versions struct {
	registry registryView
	key      identity.RepositoryKey
	check    func(identity.RepositoryKey, image.Repository) error // that a credential is usable
	releases func(source string) (scm.Releases, string, error)
	fresh    *freshness
	now      func() time.Time
}

// registryView is a subset of registry.View.
type registryView interface {
	Select(ctx context.Context, request registry.Request) (registry.Selection, error)
	Lookup(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
	Description(ctx context.Context, r image.Repository, digest string, platforms []string) (image.Description, error)
}

// Select implements observe.Registries.
func (v versions) Select(ctx context.Context, request observe.VersionRequest) promotion.Available {
	selection, err := v.selectVersion(ctx, request)
	if err != nil {
		return promotion.Available{Err: err}
	}
	return selection.Available(request.Name)
}

func (v versions) selectVersion(ctx context.Context, request observe.VersionRequest) (registry.Selection, error) {
	if err := v.check(v.key, request.Repository); err != nil {
		return registry.Selection{}, err
	}
	valid, err := v.fresh.since(ctx, request)
	if err != nil {
		return registry.Selection{}, err
	}
	signed, err := signature.New(request.Verify)
	if err != nil {
		return registry.Selection{}, err
	}
	query := registry.Request{
		Signed:     signed,
		Repository: request.Repository, Policy: request.Policy, Artifact: request.Component.Artifact,
		Platforms: request.Component.Select.Platforms,
		MinAge:    request.Component.Select.MinAge, FirstSeen: request.FirstSeen, Newer: request.Newer,
		AsOf: valid.asOf, MovedAsOf: valid.moved, KeptAsOf: valid.kept, InUse: request.InUse,
	}
	if source, released := request.Policy.Release(); released {
		return v.selectRelease(ctx, source, query)
	}
	return v.registry.Select(ctx, query)
}

// Resolve implements observe.Registries.
func (v versions) Resolve(ctx context.Context, lookup promotion.Lookup) (image.Version, error) {
	if err := v.check(v.key, lookup.Repository); err != nil {
		return image.Version{}, err
	}
	if lookup.Release != "" {
		return v.release(ctx, lookup)
	}
	version, err := v.registry.Lookup(ctx, lookup)
	if fault.KindOf(err) == fault.NotFound {
		return image.Version{}, nil
	}
	return version, err
}

// Describe implements observe.Registries.
func (v versions) Describe(ctx context.Context, fact promotion.Fact, platforms []string) (image.Description, error) {
	if err := v.check(v.key, fact.Repository); err != nil {
		return image.Description{}, err
	}
	if fact.Digest == "" {
		version, err := v.registry.Lookup(ctx, promotion.Lookup{Fact: fact})
		if err != nil {
			return image.Description{}, err
		}
		fact.Digest = version.Digest
	}
	return v.registry.Description(ctx, fact.Repository, fact.Digest, platforms)
}

// release returns a version with a date if a tag is a release.
func (v versions) release(ctx context.Context, lookup promotion.Lookup) (image.Version, error) {
	forge, repository, err := v.releases(lookup.Release)
	if err != nil {
		return image.Version{}, err
	}
	list, err := forge.Releases(ctx, repository, maxKnownReleases)
	if err != nil {
		return image.Version{}, fmt.Errorf("releases of %s: %w", lookup.Release, err)
	}
	i := slices.IndexFunc(list, func(r scm.Release) bool { return r.Tag == lookup.Tag && !r.Prerelease })
	if i < 0 {
		return image.Version{}, nil
	}
	created := list[i].Published
	if created.IsZero() {
		created = time.Unix(0, 0)
	}
	return image.Version{Tag: lookup.Tag, Created: created}, nil
}

const (
	// maxKnownReleases is how many releases are read to find that of a version in a parent.
	maxKnownReleases = 100

	// maxReleases is how many releases are read to find one that has an image.
	maxReleases = 20

	// releaseTimeout is how long to wait for the image of a release. A build that takes
	// longer has failed.
	releaseTimeout = 7 * 24 * time.Hour
)

// selectRelease selects the newest release that has an image. A release may be
// published before its image: then it is pending for some days, and an older release is
// selected.
func (v versions) selectRelease(ctx context.Context, source string, query registry.Request) (registry.Selection, error) {
	forge, repository, err := v.releases(source)
	if err != nil {
		return registry.Selection{}, err
	}
	list, err := forge.Releases(ctx, repository, maxReleases)
	if err != nil {
		return registry.Selection{}, fmt.Errorf("releases of %s: %w", source, err)
	}
	policy := query.Policy
	var out registry.Selection
	for _, release := range list {
		if release.Prerelease || !image.ValidTag(release.Tag) || policy.Excludes(release.Tag) {
			out.Skipped++
			continue
		}
		if query.Policy, err = image.NewPolicy(image.Selection{Tag: release.Tag}); err != nil {
			return registry.Selection{}, fault.Wrap(fault.Internal, err)
		}
		selected, err := v.registry.Select(ctx, query)
		if err != nil {
			return registry.Selection{}, err
		}
		if selected.Found {
			out.Version, out.Found = selected.Version, true
			return out, nil
		}
		if slices.ContainsFunc(selected.Ineligible, func(i registry.Ineligible) bool { return i.WronglySigned }) {
			return selected, nil
		}
		deadline := release.Published.Add(releaseTimeout)
		if !release.Published.IsZero() {
			if !v.now().Before(deadline) {
				out.Skipped++
				continue
			}
			for i := range selected.Ineligible {
				selected.Ineligible[i].Reason += "; waiting for it until " + deadline.UTC().Format("2006-01-02 15:04 MST")
			}
		}
		out.Ineligible = append(out.Ineligible, selected.Ineligible...)
	}
	switch {
	case len(list) == 0:
		out.Reason = source + " has no releases"
	case len(out.Ineligible) > 0:
		out.Reason = "no release is eligible yet: " + out.Ineligible[0].Tag + ": " + out.Ineligible[0].Reason
	default:
		const skipped = "prereleases, excluded releases, names that are not valid tags, " +
			"and releases without an image for a week are skipped"
		out.Reason = fmt.Sprintf("none of %d releases of %s is eligible: %s", len(list), source, skipped)
	}
	return out, nil
}
