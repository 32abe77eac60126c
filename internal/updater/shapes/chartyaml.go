package shapes

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeChartDependency is the version of a chart that another chart, a
// kustomization, or a deployment tool pulls from a registry.
const shapeChartDependency edit.Shape = "chart-dependency"

// chartLock is the file in which Helm records the versions resolved from the
// ranges in Chart.yaml, with a digest over both. It is in lower case.
const chartLock = "chart.lock"

// Keys of the version of a chart, of its name, and of the repository that it is in.
var (
	chartVersionKeys    = []string{"version", "chartVersion"}
	chartNameKeys       = []string{"chart", "chartName", "chartname"}
	chartRepositoryKeys = []string{"repository", "repo", "repoURL", "repositoryURL", "url"}
)

// findChartDependencies inspects a mapping that sets the version of a chart in
// a registry: a dependency in Chart.yaml, an entry of kustomize's helmCharts,
// a release of Helmfile, a chart of k0s, vendir, or Zarf, or an object of k3s, Sveltos, or Cluster API.
// The registry URL is next to the chart's name, ends in it, or has an alias with which the name
// begins. The alias of a dependency only affects how values refer to it.
func findChartDependencies(d *document, out *sink, m *yaml.Node) {
	version, _ := firstOf(m, chartVersionKeys)
	if version == nil {
		return
	}
	for _, name := range chartNames(d, out, m) {
		if followed, found := d.follow(name); found {
			addChartDependency(d, out, version, followed)
			return
		}
	}
}

// chartNames returns the repositories in which the chart of a mapping may be.
func chartNames(d *document, out *sink, m *yaml.Node) []string {
	chart := node.FirstText(m, chartNameKeys...)
	if name, found := ociRepository(chart, ""); found {
		return []string{name}
	}
	if alias, name, found := strings.Cut(chart, "/"); found {
		if url, found := aliasURL(d, out, alias); found {
			repository, _ := ociRepository(url, name)
			return []string{repository}
		}
	}
	url := node.FirstText(m, chartRepositoryKeys...)
	if url == "" {
		url = node.Text(m, "repository", "url")
	}
	repository, found := ociRepository(url, "")
	if !found {
		return nil
	}
	var names []string
	if chart == "" {
		chart = node.Text(m, "name")
	}
	if chart = strings.TrimPrefix(chart, node.Text(m, "repositoryName")+"/"); chart != "" {
		names = append(names, chartName(repository, chart))
	}
	if node.Text(m, "url") != "" { // Zarf's ends in the chart
		names = append(names, repository)
	}
	return names
}

// addChartDependency adds the version of a chart.
func addChartDependency(d *document, out *sink, version *yaml.Node, followed site.Followed) {
	if !strings.EqualFold(path.Base(d.file), chartLock) || !node.IsText(version) {
		addChart(d, out, shapeChartDependency, version, followed)
		return
	}
	// Helm refuses to build a chart whose lock does not match, so changing one of both files
	// would break the chart.
	locked := &site.Part{Scalar: d.scalar(version), Format: site.FormatLocked}
	out.add(site.Site{Shape: shapeChartDependency, Followed: followed, Kind: image.ArtifactChart, Tag: locked}, d.key())
}
