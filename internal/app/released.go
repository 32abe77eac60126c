package app

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/registry"
	"promoter/internal/scm"
)

// maxReleases is how many releases are looked at to find one that may be taken.
const maxReleases = 20

// releaseWaits is how long a release is waited for that has no image: a build that
// takes longer has failed.
const releaseWaits = 7 * 24 * time.Hour

// released takes the newest release that has an image. A release may come before
// its image: then it waits for some days, and the one before it stays.
func (v laneVersions) released(ctx context.Context, source string, request registry.Request) (registry.Selection, error) {
	forge, repository, err := v.releases(source)
	if err != nil {
		return registry.Selection{}, err
	}
	list, err := forge.Releases(ctx, repository, maxReleases)
	if err != nil {
		return registry.Selection{}, fmt.Errorf("releases of %s: %w", source, err)
	}
	fit, skipped := candidates(list, request.Policy)
	out := registry.Selection{Skipped: skipped}
	for _, release := range fit {
		one, err := v.tagged(ctx, release.Tag, request)
		if err != nil {
			return registry.Selection{}, err
		}
		if one.Found {
			out.Version, out.Found = one.Version, true
			return out, nil
		}
		if v.overdue(release) {
			out.Skipped++
			continue
		}
		out.Ineligible = append(out.Ineligible, waitingFor(release, one.Ineligible)...)
	}
	out.Reason = noRelease(source, len(list), out.Ineligible)
	return out, nil
}

// overdue says that the image of a release is not waited for any more. Of one without
// a time it always is.
func (v laneVersions) overdue(release scm.Release) bool {
	return !release.Published.IsZero() && !v.now().Before(release.Published.Add(releaseWaits))
}

// waitingFor says until when, where that is known.
func waitingFor(release scm.Release, waiting []registry.Ineligible) []registry.Ineligible {
	if release.Published.IsZero() {
		return waiting
	}
	for i := range waiting {
		waiting[i].Reason += "; it is waited for until " + release.Published.Add(releaseWaits).UTC().Format("2006-01-02 15:04 MST")
	}
	return waiting
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

// candidates are the releases that may be taken, newest first.
func candidates(list []scm.Release, policy *image.Policy) (fit []scm.Release, skipped int) {
	for _, release := range list {
		if release.Prerelease || !image.ValidTag(release.Tag) || policy.Excludes(release.Tag) {
			skipped++
			continue
		}
		fit = append(fit, release)
	}
	return fit, skipped
}

func noRelease(source string, releases int, waiting []registry.Ineligible) string {
	switch {
	case releases == 0:
		return source + " has no releases"
	case len(waiting) > 0:
		return "no release is eligible yet: " + waiting[0].Tag + ": " + waiting[0].Reason
	}
	return fmt.Sprintf("none of %d releases of %s fits: prereleases, excluded ones, names that no image can have, and those without an image for a week are not taken", releases, source)
}
