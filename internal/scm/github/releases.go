package github

import (
	"context"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Releases lists published releases. GitHub returns drafts to users who may push, so
// pages are read until there are enough others.
func (f *Forge) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	noun := "releases of " + rest.OneLine(repository)
	owner, name, err := splitName(repository)
	if err != nil {
		return nil, explain(noun, err)
	}
	if err := rest.CheckLimit(limit); err != nil {
		return nil, explain(noun, err)
	}
	found, err := pages(limit, func(page gogithub.ListOptions) ([]scm.Release, *gogithub.Response, error) {
		list, resp, err := f.api.Repositories.ListReleases(ctx, owner, name, &page)
		return published(list), resp, err
	})
	return found, explain(noun, err)
}

func published(list []*gogithub.RepositoryRelease) []scm.Release {
	var releases []scm.Release
	for _, release := range list {
		if !release.GetDraft() {
			releases = append(releases, scm.Release{Tag: release.GetTagName(), Prerelease: release.GetPrerelease(), Published: release.GetPublishedAt().UTC()})
		}
	}
	return releases
}
