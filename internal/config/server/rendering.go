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
	return Rendering{Repositories: in.repositories(raw.Repositories, raw.Origin, "rendering")}
}
