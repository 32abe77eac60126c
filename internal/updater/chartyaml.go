package updater

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shapeChartDependency is the version of a chart that another chart, or a
// kustomization, takes from a registry.
const shapeChartDependency edit.Shape = "chart-dependency"

// chartLock is the file in which Helm notes the versions that the ranges of a
// Chart.yaml gave, with a digest over both. In lower case.
const chartLock = "chart.lock"

// findChartDependencies looks at a mapping that says which version of a chart in
// a registry is taken: a dependency of a Chart.yaml, an entry of kustomize's
// helmCharts, or the HelmChart of k3s. The registry's URL stands beside the
// chart's name or ends in it. The alias of a dependency is only what the values
// call it.
func findChartDependencies(f *finder, m *yaml.Node) {
	chart := lookupText(m, "chart")
	repository, found := ociRepository(chart, "")
	if !found {
		name := firstText(m, "name", "chart")
		repository, found = ociRepository(firstText(m, "repository", "repo"), name)
		found = found && name != ""
	}
	if !found {
		return
	}
	if followed, found := f.follow(repository); found {
		f.addDependency(lookup(m, "version"), followed)
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
