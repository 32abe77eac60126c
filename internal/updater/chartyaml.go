package updater

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeChartDependency is a dependency of a Helm chart.
const shapeChartDependency edit.Shape = "chart-dependency"

// chartLock is the file in which Helm notes the versions that the ranges of a
// Chart.yaml gave, with a digest over both. In lower case.
const chartLock = "chart.lock"

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
			f.addDependency(lookup(item, "version"), followed)
		}
	}
}

// addDependency adds the version of a dependency. In a Chart.lock it stands too,
// and Helm refuses to build a chart whose lock does not fit, so that a change
// of one without the other would break the chart.
func (f *finder) addDependency(version *yaml.Node, followed Followed) {
	if strings.EqualFold(path.Base(f.path), chartLock) && isText(version) {
		f.add(site{shape: shapeChartDependency, followed: followed, tag: &part{scalar: f.scalar(version), spells: spellsLocked}})
		return
	}
	f.addChart(shapeChartDependency, version, followed)
}
