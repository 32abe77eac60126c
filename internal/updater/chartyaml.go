package updater

import (
	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeChartDependency is a dependency of a Helm chart.
const shapeChartDependency edit.Shape = "chart-dependency"

// findChartDependencies looks at the dependencies of a Chart.yaml. Those in a
// registry have its oci:// URL without the chart's name. The alias is only what
// the values call it.
func findChartDependencies(f *finder, m *yaml.Node) {
	list := lookup(m, "dependencies")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		item = resolve(item)
		name := lookupText(item, "name")
		repository, found := ociRepository(lookupText(item, "repository"), name)
		if name == "" || !found {
			continue
		}
		if followed, found := f.follow(repository); found {
			f.addChart(shapeChartDependency, lookup(item, "version"), followed)
		}
	}
}
