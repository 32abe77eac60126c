package shapes

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
)

// shapeChartRepositories is a list of chart repositories of Helmfile. It contains no version;
// releases, also in other files, name the charts by the alias of their repository.
const shapeChartRepositories edit.Shape = "chart-repositories"

// kindChartRepository is the kind of the declarations of these repositories.
const kindChartRepository = "helmfile-repository"

// aliasLiteral is in every file of Helmfile with a repository in a registry.
// https://helmfile.readthedocs.io/en/latest/#oci-registries
const aliasLiteral = "oci: true"

// findChartRepositories declares the repositories of a Helmfile for releases in other files.
func findChartRepositories(_ *document, out *sink, m *yaml.Node) {
	list := node.Get(m, "repositories")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if name, url := aliasOf(item); url != "" {
			out.found.Declared = append(out.found.Declared, Declaration{kindChartRepository, anyNamespace, name, url})
		}
	}
}

// aliasOf returns the alias and the URL, with its scheme, of a repository in a registry.
func aliasOf(item *yaml.Node) (name, url string) {
	name, url = node.Text(item, "name"), node.Text(item, "url")
	switch {
	case name == "" || url == "":
		return "", ""
	case strings.HasPrefix(url, ociScheme):
		return name, url
	case node.Text(item, "oci") == "true" && !strings.Contains(url, "://"):
		return name, ociScheme + url
	default:
		return "", ""
	}
}

// aliasURL returns the URL of the chart repository with an alias: of a list around the current
// node, of another document of the file, or of another file.
func aliasURL(d *document, out *sink, alias string) (url string, found bool) {
	roots := slices.Clone(d.parents)
	for _, document := range d.stream.Documents {
		roots = append(roots, document.Content...)
	}
	for _, root := range slices.Backward(roots) {
		list := node.Get(root, "repositories")
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.Content {
			if name, url := aliasOf(item); name == alias && url != "" {
				return url, true
			}
		}
	}
	if d.key() != "releases" {
		return "", false
	}
	out.found.NeedsSources = true
	return d.sources.url(d.file, sourceKey{kindChartRepository, anyNamespace, alias})
}
