package shapes

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeChartDependency is the version of a chart that another chart, or a
// kustomization, pulls from a registry.
const shapeChartDependency edit.Shape = "chart-dependency"

// chartLock is the file in which Helm records the versions resolved from the
// ranges in Chart.yaml, with a digest over both. It is in lower case.
const chartLock = "chart.lock"

// findChartDependencies inspects a mapping that sets the version of a chart in
// a registry: a dependency in Chart.yaml, an entry of kustomize's helmCharts,
// or a k3s HelmChart. The registry URL is either next to the chart's name or
// ends in it. The alias of a dependency only affects how values refer to it.
func findChartDependencies(d *document, out *sink, m *yaml.Node) {
	chart := node.Text(m, "chart")
	repository, found := ociRepository(chart, "")
	if !found {
		name := node.FirstText(m, "name", "chart")
		repository, found = ociRepository(node.FirstText(m, "repository", "repo"), name)
		found = found && name != ""
	}
	if !found {
		return
	}
	followed, found := d.follow(repository)
	if !found {
		return
	}
	version := node.Get(m, "version")
	if !strings.EqualFold(path.Base(d.file), chartLock) || !node.IsText(version) {
		addChart(d, out, shapeChartDependency, version, followed)
		return
	}
	// Helm refuses to build a chart whose lock does not match, so changing one of both files
	// would break the chart.
	locked := &site.Part{Scalar: d.scalar(version), Format: site.FormatLocked}
	out.add(site.Site{Shape: shapeChartDependency, Followed: followed, Tag: locked}, d.key())
}
