package shapes

import (
	"maps"
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
	if url, found := d.aliasesOfDocuments()[alias]; found {
		return url, true
	}
	for _, parent := range slices.Backward(d.parents) {
		if url, found := d.aliasesIn(parent)[alias]; found {
			return url, true
		}
	}
	if d.key() != "releases" {
		return "", false
	}
	out.found.NeedsSources = true
	return d.sources.url(d.file, sourceKey{kindChartRepository, anyNamespace, alias})
}

// aliasesOfDocuments returns the URLs of the chart repositories of all documents, by alias.
func (d *document) aliasesOfDocuments() map[string]string {
	all, known := d.indexes.ofStream[d.stream]
	if known {
		return all
	}
	all = map[string]string{}
	for _, document := range d.stream.Documents {
		for _, root := range document.Content {
			maps.Copy(all, d.aliasesIn(root))
		}
	}
	d.indexes.ofStream[d.stream] = all
	return all
}

// aliasesIn returns the URLs of the chart repositories of a mapping, by alias.
func (d *document) aliasesIn(m *yaml.Node) map[string]string {
	urls, known := d.indexes.aliases[m]
	if known {
		return urls
	}
	if list := node.Get(m, "repositories"); list != nil && list.Kind == yaml.SequenceNode {
		urls = map[string]string{}
		for _, item := range list.Content {
			name, url := aliasOf(item)
			if _, first := urls[name]; url != "" && !first {
				urls[name] = url
			}
		}
	}
	d.indexes.aliases[m] = urls
	return urls
}
