package updater_test

import (
	"strings"
	"testing"
)

const acmeCharts = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: acme, namespace: flux-system}
spec: {type: oci, url: "oci://quay.io/acme/charts"}
`

// release returns a HelmRelease with the chart version and the source.
func release(version, sourceRef string) string {
	return `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec:
  chart:
    spec:
      chart: web
      version: ` + version + `
      sourceRef: ` + sourceRef + "\n"
}

const fluxSystem = "{kind: HelmRepository, name: acme, namespace: flux-system}"

func TestHelmRelease_chartThroughItsSource(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{"sources/acme.yaml": acmeCharts}
	checkShapes(t, []shapeCase{
		{
			name: "source in another file", others: elsewhere, kinds: "helm-release",
			before: release("1.0.0", fluxSystem), after: release("2.0.0+build.5", fluxSystem),
		},
		{
			name: "source in the same file", kinds: "helm-release",
			before: acmeCharts + "---\n" + release(`"1.0.0-1234567"`, fluxSystem),
			after:  acmeCharts + "---\n" + release(`"2.0.0+build.5"`, fluxSystem),
		},
		{
			name: "source without a namespace in its file", kinds: "helm-release",
			others: map[string]string{"sources/acme.yaml": strings.Replace(acmeCharts, ", namespace: flux-system", "", 1)},
			before: release("1.0.0", fluxSystem), after: release("2.0.0+build.5", fluxSystem),
		},
		{
			name: "source of another namespace", others: elsewhere,
			before: release("1.0.0", "{kind: HelmRepository, name: acme}"),
		},
		{
			name: "source of another kind", others: elsewhere,
			before: release("1.0.0", "{kind: GitRepository, name: acme, namespace: flux-system}"),
		},
		{
			name:   "source that is no registry",
			others: map[string]string{"sources/acme.yaml": strings.Replace(acmeCharts, "oci://quay.io", "https://quay.io", 1)},
			before: release("1.0.0", fluxSystem),
		},
		{
			name: "the same version", others: elsewhere,
			before: release("2.0.0+build.5", fluxSystem),
		},
		{
			name: "no version: the newest chart is taken anyhow", others: elsewhere,
			before: release("", fluxSystem),
		},
	})
}

func TestHelmRelease_versionsThatChooseThemselves(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{"sources/acme.yaml": acmeCharts}
	var cases []shapeCase
	for _, version := range []string{`"*"`, "1.x", `">=1.0.0"`, "^1.2.3", "~1.2.3", "1.0", `"1"`, "1.0.0 || 2.0.0"} {
		cases = append(cases, shapeCase{
			name: version, others: elsewhere, before: release(version, fluxSystem),
			refused: "file.yaml:8: the range",
		})
	}
	cases = append(cases, shapeCase{
		name: "variable", others: elsewhere, before: release("${VERSION}", fluxSystem), refused: "is a variable",
	}, shapeCase{
		name: "ignored", others: elsewhere, before: release("1.x # promoter: ignore", fluxSystem),
	})
	checkShapes(t, cases)
}

func TestHelmRelease_bareTags(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{"sources/acme.yaml": acmeCharts}
	start := release("2.0.0+build.5", fluxSystem) + "  values:\n"
	checkShapes(t, []shapeCase{
		{
			name: "no repository beside the tag", others: elsewhere,
			before: start + "    image: {tag: v1}\n", refused: `file.yaml:11: no repository is set next to the tag v1`,
		},
		{
			name: "under a key that ends in image", others: elsewhere,
			before: start + "    web: {mainImage: {tag: v1}}\n", refused: "COMPONENT.tag",
		},
		{
			name: "imageTag", others: elsewhere,
			before: start + "    imageTag: v1\n", refused: "no repository is set next to",
		},
		{
			name: "a repository of nobody we follow", others: elsewhere,
			before: start + "    image: {repository: docker.io/busybox, tag: v1}\n",
		},
		{
			name: "a tag that is no image's", others: elsewhere,
			before: start + "    git: {tag: v1}\n    image: {tag: \"\"}\n",
		},
		{
			name: "marked", others: elsewhere, kinds: "marker",
			before: start + "    image:\n      tag: v1 # promoter: web.tag\n",
			after:  start + "    image:\n      tag: v2 # promoter: web.tag\n",
		},
		{
			name: "ignored", others: elsewhere,
			before: start + "    image:\n      tag: v1 # promoter: ignore\n",
		},
		{
			name:   "the chart is of nobody we follow",
			before: start + "    image: {tag: v1}\n",
		},
	})
}

func TestHelmChart_hasTheFormOfARelease(t *testing.T) {
	t.Parallel()
	chart := func(version string) string {
		return `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: web, namespace: flux-system}
spec:
  chart: web
  version: ` + version + `
  sourceRef: {kind: HelmRepository, name: acme}
`
	}
	checkShapes(t, []shapeCase{{
		name: "HelmChart", others: map[string]string{"sources/acme.yaml": acmeCharts},
		before: chart("1.0.0"), after: chart("2.0.0+build.5"),
	}})
}
