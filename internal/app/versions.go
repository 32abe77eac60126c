package app

import (
	"context"
	"fmt"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/engine"
	"promoter/internal/registry"
	"promoter/internal/scm"
)

// laneVersions answers with the rights of one repository. It is
// engine.Registries.
type laneVersions struct {
	versions Versions
	key      identity.RepositoryKey
	check    func(identity.RepositoryKey, image.Repository) error
	releases func(source string) (scm.Releases, string, error)
	moments  *moments // nil: answers of the round count
}

// Offer implements engine.Registries.
func (v laneVersions) Offer(ctx context.Context, ask engine.Ask) promotion.Offer {
	if err := v.check(v.key, ask.Repository); err != nil {
		return promotion.Offer{Err: err}
	}
	request := registry.Request{
		Repository: ask.Repository, Policy: ask.Policy, Platforms: ask.Component.Select.Platforms,
		MinAge: ask.Component.Select.MinAge, FirstSeen: ask.FirstSeen,
	}
	asOf, err := v.moments.asOf(ctx, ask)
	if err != nil {
		return promotion.Offer{Err: err}
	}
	request.AsOf = asOf
	selected, err := v.choose(ctx, ask, request)
	if err != nil {
		return promotion.Offer{Err: err}
	}
	return offerOf(ask.Name, selected)
}

func (v laneVersions) choose(ctx context.Context, ask engine.Ask, request registry.Request) (registry.Selection, error) {
	source, released := ask.Policy.Release()
	if !released {
		return v.versions.Select(ctx, request)
	}
	return v.released(ctx, source, request)
}

// Answer implements engine.Registries.
func (v laneVersions) Answer(ctx context.Context, question promotion.Question) (image.Version, error) {
	if err := v.check(v.key, question.Repository); err != nil {
		return image.Version{}, err
	}
	version, err := answer(ctx, question, v.versions)
	if fault.KindOf(err) == fault.NotFound {
		return image.Version{}, nil
	}
	return version, err
}

// maxReleases is how many releases are looked at to find one that may be taken.
const maxReleases = 20

// released takes the newest release that has an image. A release may come before
// its image: then it waits, and the one before it stays.
func (v laneVersions) released(ctx context.Context, source string, request registry.Request) (registry.Selection, error) {
	forge, repository, err := v.releases(source)
	if err != nil {
		return registry.Selection{}, err
	}
	list, err := forge.Releases(ctx, repository, maxReleases)
	if err != nil {
		return registry.Selection{}, fmt.Errorf("releases of %s: %w", source, err)
	}
	tags, skipped := candidates(list, request.Policy)
	out := registry.Selection{Skipped: skipped}
	for _, tag := range tags {
		one, err := v.tagged(ctx, tag, request)
		if err != nil {
			return registry.Selection{}, err
		}
		if one.Found {
			out.Version, out.Found = one.Version, true
			return out, nil
		}
		out.Waiting = append(out.Waiting, one.Waiting...)
	}
	out.Reason = noRelease(source, len(list), out.Waiting)
	return out, nil
}

// tagged asks for the image of one release.
func (v laneVersions) tagged(ctx context.Context, tag string, request registry.Request) (registry.Selection, error) {
	policy, err := image.NewPolicy(image.Selection{Tag: tag})
	if err != nil {
		return registry.Selection{}, fault.Wrap(fault.Internal, err)
	}
	request.Policy = policy
	return v.versions.Select(ctx, request)
}

// candidates are the tags of the releases that may be taken, newest first.
func candidates(list []scm.Release, policy *image.Policy) (tags []string, skipped int) {
	for _, release := range list {
		if release.Prerelease || !image.ValidTag(release.Tag) || policy.Excludes(release.Tag) {
			skipped++
			continue
		}
		tags = append(tags, release.Tag)
	}
	return tags, skipped
}

func noRelease(source string, releases int, waiting []registry.Because) string {
	switch {
	case releases == 0:
		return source + " has no releases"
	case len(waiting) > 0:
		return "no release may be taken yet: " + waiting[0].Tag + ": " + waiting[0].Reason
	}
	return fmt.Sprintf("none of %d releases of %s fits: prereleases, excluded ones and names that no image can have are not taken", releases, source)
}
