package updater

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
)

// shapeHelmRelease is the chart version in Flux's HelmRelease and HelmChart.
const shapeHelmRelease edit.Shape = "helm-release"

// findHelmRelease inspects the chart of a release. The source, usually in
// another file, defines its repository. A release with chartRef has its version
// in the OCIRepository that it refers to.
func findHelmRelease(d *document, out *sink, m *yaml.Node) {
	var chart *yaml.Node
	switch {
	case isObject(m, "helm.toolkit.fluxcd.io", "HelmRelease"):
		chart = node.At(m, "spec", "chart", "spec")
	case isObject(m, fluxSourceGroup, kindHelmChart):
		chart = node.Get(m, "spec")
	default:
		return
	}
	if followed, found := fluxChart(d, out, m, chart); found {
		addChart(d, out, shapeHelmRelease, node.Get(chart, "version"), followed)
		refuseBareTags(d, out, node.At(m, "spec", "values"), false)
	}
}

// fluxChart returns the component for a chart and its source.
func fluxChart(d *document, out *sink, m, chart *yaml.Node) (Followed, bool) {
	name := node.Text(chart, "chart")
	if name == "" {
		return Followed{}, false
	}
	out.needsSources = true
	url, found := d.sourceURL(node.Get(chart, "sourceRef"), node.Text(m, "metadata", "namespace"))
	if !found {
		return Followed{}, false
	}
	repository, found := ociRepository(url, name)
	if !found {
		return Followed{}, false
	}
	return d.follow(repository)
}

// namesRepository reports whether a group of values has a key that identifies the
// repository of its tag.
func namesRepository(values *yaml.Node) bool {
	return slices.ContainsFunc([]string{"repository", "image", "name", "hub", "registry"}, func(key string) bool {
		return node.Get(values, key) != nil
	})
}

// refuseBareTags refuses tags in the values of a followed chart that have no
// repository next to them. The chart, which is not available here, defines the
// repository, so they may be the tags of a followed image.
func refuseBareTags(d *document, out *sink, values *yaml.Node, ofImage bool) {
	if values == nil {
		return
	}
	if values.Kind == yaml.MappingNode && ofImage && !namesRepository(values) {
		refuseBareTag(d, out, node.Get(values, "tag"))
	}
	for i := 0; i+1 < len(values.Content) && values.Kind == yaml.MappingNode; i += 2 {
		key := strings.ToLower(values.Content[i].Value)
		if key == "imagetag" || key == "image_tag" {
			refuseBareTag(d, out, values.Content[i+1])
		}
		refuseBareTags(d, out, values.Content[i+1], strings.HasSuffix(key, "image"))
	}
}

func refuseBareTag(d *document, out *sink, tag *yaml.Node) {
	if !node.IsText(tag) {
		return
	}
	out.refuse(d.scalar(tag), "", "no repository is set next to the tag %s; name its component with a write entry or with the comment \"# promoter: COMPONENT.tag\"", shorten(tag.Value))
}
