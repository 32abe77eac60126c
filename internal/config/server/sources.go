package serverconfig

import (
	"promoter/internal/config"
	"promoter/internal/strictyaml"
)

// Source allows GitOps repositories to read source repositories with the credential of
// their forge.
type Source struct {
	config.Position
	Repositories []string // patterns of source repositories
	UsableBy     []string // patterns of GitOps repositories
}

// rawSource is a rule about source repositories.
type rawSource struct {
	strictyaml.Origin
	// Globs of source repositories, `HOST/OWNER/NAME`, on hosts of `forges`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Globs of GitOps repositories, `HOST/OWNER/NAME`, whose pull requests may show commits and release notes of
	// these sources, and which may follow their releases.
	UsableBy strictyaml.List `yaml:"usableBy" required:"true"`
}

func loadSources(in *input) []Source {
	var sources []Source
	for _, raw := range in.raw.Sources {
		if raw.Invalid {
			continue
		}
		required(in.report, raw.Origin, "source", "repositories", raw.Repositories)
		required(in.report, raw.Origin, "source", "usableBy", raw.UsableBy)
		checkRepositoryPatterns(in.report, raw.Repositories, "repositories")
		checkRepositoryPatterns(in.report, raw.UsableBy, "usableBy")
		sources = append(sources,
			Source{Position: raw.Position, Repositories: raw.Repositories.Strings(), UsableBy: raw.UsableBy.Strings()})
	}
	return sources
}
