package updater

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
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

// addDependency adds the version of a dependency. Chart.lock also contains the
// version, and Helm refuses to build a chart whose lock does not match, so
// changing one without the other would break the chart.
func (f *finder) addDependency(version *yaml.Node, followed Followed) {
	if strings.EqualFold(path.Base(f.path), chartLock) && isText(version) {
		f.add(site{shape: shapeChartDependency, followed: followed, tag: &part{scalar: f.scalar(version), spells: spellsLocked}})
		return
	}
	f.addChart(shapeChartDependency, version, followed)
}
