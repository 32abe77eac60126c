package gitlab

import (
	"context"
	"regexp"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Releases lists published releases. A release with a future date is not published.
// GitLab does not mark prereleases: they are recognized by their tag.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	if !isPath(repository) {
		return nil, fault.New(fault.Invalid, "%s: the name of a project is GROUP/NAME", noun)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	found, err := pages(limit, func(page gogitlab.ListOptions) ([]scm.Release, *gogitlab.Response, error) {
		options := &gogitlab.ListReleasesOptions{ListOptions: page, OrderBy: gogitlab.Ptr("released_at"), Sort: gogitlab.Ptr("desc")}
		list, resp, err := f.api.Releases.ListReleases(repository, options, in(ctx))
		return published(list), resp, err
	})
	return found, explain(noun, err)
}

// prerelease matches a semantic version with a prerelease part.
// https://semver.org/#spec-item-9
var prerelease = regexp.MustCompile(`^v?\d+(\.\d+){0,2}-[0-9A-Za-z.-]+(\+[0-9A-Za-z.-]+)?$`)

func published(list []*gogitlab.Release) []scm.Release {
	var releases []scm.Release
	for _, release := range list {
		if release.UpcomingRelease {
			continue
		}
		one := scm.Release{Tag: release.TagName, Prerelease: prerelease.MatchString(release.TagName)}
		if release.ReleasedAt != nil {
			one.Published = release.ReleasedAt.UTC()
		}
		releases = append(releases, one)
	}
	return releases
}
