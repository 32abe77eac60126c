package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
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
func findArgoSource(f *finder, m *yaml.Node) {
	followed, found := f.argoRepository(m)
	if !found {
		return
	}
	revision := lookup(m, "targetRevision")
	if lookupText(m, "chart") != "" {
		f.addChart(shapeArgoSource, revision, followed)
		return
	}
	f.addArtifact(shapeArgoSource, m, revision, followed, "targetRevision")
}

// argoRepository returns the component of a source. With a chart, the registry
// URL has no scheme or has oci://. Without a chart it must have oci://, because
// every other URL is a Git repository.
func (f *finder) argoRepository(m *yaml.Node) (Followed, bool) {
	url, chart := lookupText(m, "repoURL"), lookupText(m, "chart")
	if chart != "" && !strings.Contains(url, "://") {
		return f.follow(chartName(url, chart))
	}
	repository, found := ociRepository(url, chart)
	if !found {
		return Followed{}, false
	}
	return f.follow(repository)
}

// findArgoParameters inspects helm.parameters, a list of names and values.
// Dotted names form groups like those in a values file.
func findArgoParameters(f *finder, m *yaml.Node) {
	list := lookup(m, "parameters")
	if list == nil || list.Kind != yaml.SequenceNode || len(f.keys) == 0 || f.keys[len(f.keys)-1] != "helm" {
		return
	}
	first := len(f.sites)
	for _, group := range parameterGroups(list) {
		findHelmValues(f, group)
	}
	for i := range f.sites[first:] {
		f.sites[first+i].shape = shapeArgoParameters
	}
}

// parameterGroups builds a mapping from all parameters whose names differ only
// in the last part, in list order.
func parameterGroups(list *yaml.Node) []*yaml.Node {
	var groups []*yaml.Node
	byPrefix := map[string]*yaml.Node{}
	for _, item := range list.Content {
		name, value := lookup(item, "name"), lookup(item, "value")
		if !isText(name) || !isScalar(value) {
			continue
		}
		at := strings.LastIndexByte(name.Value, '.') + 1
		group := byPrefix[name.Value[:at]]
		if group == nil {
			group = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: name.Line, Column: name.Column}
			byPrefix[name.Value[:at]] = group
			groups = append(groups, group)
		}
		key := *name
		key.Value = name.Value[at:]
		group.Content = append(group.Content, &key, value)
	}
	return groups
}
