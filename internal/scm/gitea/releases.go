package gitea

import (
	"context"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Releases lists published releases. Gitea returns drafts to users who may push,
// unless they are excluded.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	owner, name, err := splitName(repository)
	if err != nil {
		return nil, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	no := false
	found, err := pages(limit, func(page sdk.ListOptions) ([]*sdk.Release, *sdk.Response, error) {
		return f.api(ctx).ListReleases(owner, name, sdk.ListReleasesOptions{ListOptions: page, IsDraft: &no})
	}, func(release *sdk.Release) (scm.Release, bool) {
		return scm.Release{Tag: release.TagName, Prerelease: release.IsPrerelease, Published: release.PublishedAt.UTC()}, !release.IsDraft
	})
	return found, explain(noun, err)
}
