package serverconfig

import (
	"promoter/internal/strictyaml"
)

// rawRendering is the repositories whose pull requests may show rendered manifests.
type rawRendering struct {
	strictyaml.Origin
	// Globs of repositories: `HOST/OWNER/NAME`.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
}

// loadRendering returns where manifests may be rendered. That runs kustomize and Helm on files that
// writers of a repository control, so the server decides.
func loadRendering(in *input) []string {
	raw := in.raw.Rendering
	if raw == nil || raw.Invalid {
		return nil
	}
	return in.repositories(raw.Repositories, raw.Origin, "rendering")
}
