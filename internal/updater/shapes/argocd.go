package shapes

import (
	"iter"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// Shapes of Argo CD's Application and ApplicationSet: the revision of a source,
// and the parameters passed to a chart.
const (
	shapeArgoSource     edit.Shape = "argocd-source"
	shapeArgoParameters edit.Shape = "argocd-parameters"
)

// findArgoSource inspects a source of an application. The revision of a Git
// repository is not changed; that of a chart or artifact in a registry is its
// version.
func findArgoSource(d *document, out *sink, m *yaml.Node) {
	followed, found := argoRepository(d, m)
	if !found {
		return
	}
	revision := node.Get(m, "targetRevision")
	if node.Text(m, "chart") != "" {
		addChart(d, out, shapeArgoSource, revision, followed)
		return
	}
	addArtifact(d, out, shapeArgoSource, m, revision, followed, "targetRevision")
}

// argoRepository returns the component of a source. With a chart, the registry
// URL has no scheme or has oci://. Without a chart it must have oci://, because
// every other URL is a Git repository.
func argoRepository(d *document, m *yaml.Node) (site.Followed, bool) {
	url, chart := node.Text(m, "repoURL"), node.Text(m, "chart")
	if chart != "" && !strings.Contains(url, "://") {
		return d.follow(chartName(url, chart))
	}
	repository, found := ociRepository(url, chart)
	if !found {
		return site.Followed{}, false
	}
	return d.follow(repository)
}

// findArgoParameters inspects helm.parameters, a list of names and values.
// Dotted names form groups like those in a values file.
func findArgoParameters(d *document, out *sink, m *yaml.Node) {
	list := node.Get(m, "parameters")
	if list == nil || list.Kind != yaml.SequenceNode || d.key() != "helm" {
		return
	}
	findGroups(d, out, shapeArgoParameters, groups(namedValues(list)))
}

// findArgoValuesObject inspects helm.valuesObject for keys with dots, which form groups like
// parameters.
func findArgoValuesObject(d *document, out *sink, m *yaml.Node) {
	values := node.Get(m, "valuesObject")
	if values == nil || values.Kind != yaml.MappingNode || d.key() != "helm" {
		return
	}
	findGroups(d, out, shapeArgoParameters, groups(func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(values.Content); i += 2 {
			key, value := values.Content[i], values.Content[i+1]
			if strings.Contains(key.Value, ".") && node.IsScalar(value) && !yield(key, value) {
				return
			}
		}
	}))
}

// findGroups inspects groups like those in a values file.
func findGroups(d *document, out *sink, shape edit.Shape, all []*yaml.Node) {
	first := len(out.found.Sites)
	for _, group := range all {
		findHelmValues(d, out, group)
	}
	for i := range out.found.Sites[first:] {
		out.found.Sites[first+i].Shape = shape
	}
}

// namedValues yields the names and values of a list of parameters.
func namedValues(list *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		for _, item := range list.Content {
			name, value := node.Get(item, "name"), node.Get(item, "value")
			if node.IsText(name) && node.IsScalar(value) && !yield(name, value) {
				return
			}
		}
	}
}

// groups builds a mapping from all values whose names differ only in the last part, in their
// order.
func groups(values iter.Seq2[*yaml.Node, *yaml.Node]) []*yaml.Node {
	var all []*yaml.Node
	byPrefix := map[string]*yaml.Node{}
	for name, value := range values {
		at := strings.LastIndexByte(name.Value, '.') + 1
		group := byPrefix[name.Value[:at]]
		if group == nil {
			group = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: name.Line, Column: name.Column}
			byPrefix[name.Value[:at]] = group
			all = append(all, group)
		}
		key := *name
		key.Value = name.Value[at:]
		group.Content = append(group.Content, &key, value)
	}
	return all
}
