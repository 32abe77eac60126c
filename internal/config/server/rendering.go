package serverconfig

import (
	"promoter/internal/strictyaml"
)

// Rendering is where pull requests may show rendered manifests. Rendering runs kustomize and Helm
// on files that writers of a repository control, so the server decides.
type Rendering struct {
	Repositories []string // patterns; nil: nowhere
}

// rawRendering is the repositories whose pull requests may show rendered manifests.
type rawRendering struct {
	strictyaml.Origin
	// Globs of repositories: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
}

func loadRendering(in *input) Rendering {
	raw := in.raw.Rendering
	if raw == nil || raw.Invalid {
		return Rendering{}
	}
	if !raw.Repositories.Invalid && len(raw.Repositories.Items) == 0 {
		in.report.Errorf(raw.Position, "add repositories: [HOST/OWNER/*]", "rendering names no repositories")
	}
	checkRepositoryPatterns(in.report, raw.Repositories, "repositories")
	return Rendering{Repositories: raw.Repositories.Strings()}
}
