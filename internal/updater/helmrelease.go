package updater

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shapeHelmRelease is the chart version in Flux's HelmRelease and HelmChart.
const shapeHelmRelease edit.Shape = "helm-release"

// findHelmRelease inspects the chart of a release. The source, usually in
// another file, defines its repository. A release with chartRef has its version
// in the OCIRepository that it refers to.
func findHelmRelease(f *finder, m *yaml.Node) {
	var chart *yaml.Node
	switch {
	case isObject(m, "helm.toolkit.fluxcd.io", "HelmRelease"):
		chart = lookupPath(m, "spec", "chart", "spec")
	case isObject(m, fluxSourceGroup, kindHelmChart):
		chart = lookup(m, "spec")
	default:
		return
	}
	if followed, found := f.fluxChart(m, chart); found {
		f.addChart(shapeHelmRelease, lookup(chart, "version"), followed)
		f.refuseBareTags(lookupPath(m, "spec", "values"), false)
	}
}

// fluxChart returns the component for a chart and its source.
func (f *finder) fluxChart(m, chart *yaml.Node) (Followed, bool) {
	name := lookupText(chart, "chart")
	if name == "" {
		return Followed{}, false
	}
	url, found := f.sourceOf(lookup(chart, "sourceRef"), lookupText(m, "metadata", "namespace"))
	if !found {
		return Followed{}, false
	}
	repository, found := ociRepository(url, name)
	if !found {
		return Followed{}, false
	}
	return f.follow(repository)
}

// namesRepository are the keys of a values group that identify the repository
// of its tag.
var namesRepository = []string{"repository", "image", "name", "hub", "registry"}

// refuseBareTags refuses tags in the values of a followed chart that have no
// repository next to them. The chart, which is not available here, defines the
// repository, so they may be the tags of a followed image.
func (f *finder) refuseBareTags(values *yaml.Node, ofImage bool) {
	if values == nil {
		return
	}
	if values.Kind == yaml.MappingNode && ofImage && !hasAny(values, namesRepository) {
		f.refuseBareTag(lookup(values, "tag"))
	}
	for i := 0; i+1 < len(values.Content) && values.Kind == yaml.MappingNode; i += 2 {
		key := strings.ToLower(values.Content[i].Value)
		if key == "imagetag" || key == "image_tag" {
			f.refuseBareTag(values.Content[i+1])
		}
		f.refuseBareTags(values.Content[i+1], strings.HasSuffix(key, "image"))
	}
}

func (f *finder) refuseBareTag(tag *yaml.Node) {
	if !isText(tag) {
		return
	}
	f.refuse(tag, "", "no repository stands beside the tag %s; name its component with a write entry or with the comment \"# promoter: COMPONENT.tag\"", shorten(tag.Value))
}

func hasAny(m *yaml.Node, keys []string) bool {
	for _, key := range keys {
		if lookup(m, key) != nil {
			return true
		}
	}
	return false
}
