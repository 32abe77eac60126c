package updater_test

import "testing"

func TestChartDependencies(t *testing.T) {
	t.Parallel()
	chart := func(dependency string) string {
		return "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies:\n  - " + dependency + "\n"
	}
	checkShapes(t, []shapeCase{
		{
			name: "in a registry", path: "Chart.yaml", kinds: "chart-dependency",
			before: chart("{name: web, version: 1.0.0, repository: oci://quay.io/acme/charts}"),
			after:  chart("{name: web, version: 2.0.0+build.5, repository: oci://quay.io/acme/charts}"),
		},
		{
			name: "the alias is only a name", path: "Chart.yaml",
			before: chart("{alias: other, name: web, version: \"1.0.0\", repository: \"oci://quay.io/acme/charts/\"}"),
			after:  chart("{alias: other, name: web, version: \"2.0.0+build.5\", repository: \"oci://quay.io/acme/charts/\"}"),
		},
		{
			name: "alias of our name", path: "Chart.yaml",
			before: chart("{alias: web, name: other, version: 1.0.0, repository: oci://quay.io/acme/charts}"),
		},
		{name: "in an index", path: "Chart.yaml", before: chart("{name: web, version: 1.0.0, repository: https://quay.io/acme/charts}")},
		{name: "in a folder", path: "Chart.yaml", before: chart("{name: web, version: 1.0.0, repository: file://charts/web}")},
		{name: "vendored", path: "Chart.yaml", before: chart("{name: web, version: 1.0.0}")},
		{
			name: "range", path: "Chart.yaml", before: chart("{name: web, version: ^1.0.0, repository: oci://quay.io/acme/charts}"),
			refused: "Chart.yaml:5: the range ^1.0.0 selects",
		},
		{name: "other lists of dependencies", before: "dependencies: [one, {name: web}, [quay.io/acme/web]]\n"},
		{
			name:   "helmCharts of kustomize",
			before: "helmCharts:\n- name: web\n  repo: oci://quay.io/acme/charts\n  version: 1.0.0 # kept\n  valuesInline: {image: {repository: quay.io/acme/web, tag: v1}}\n",
			after:  "helmCharts:\n- name: web\n  repo: oci://quay.io/acme/charts\n  version: 2.0.0+build.5 # kept\n  valuesInline: {image: {repository: quay.io/acme/web, tag: v2}}\n",
		},
		{
			name:   "HelmChart of k3s",
			before: "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nspec: {chart: oci://quay.io/acme/charts/web, version: 1.0.0}\n",
			after:  "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nspec: {chart: oci://quay.io/acme/charts/web, version: 2.0.0+build.5}\n",
		},
		{name: "a chart without a version", before: "spec: {chart: oci://quay.io/acme/charts/web}\n"},
		{name: "a registry without a name", before: "{repository: oci://quay.io/acme/charts/web, version: 1.0.0}\n"},
		{
			name: "annotations", path: "Chart.yaml",
			before: "annotations:\n  artifacthub.io/images: |\n    - name: web\n      image: quay.io/acme/web:v1\n  images: |\n    - image: quay.io/acme/worker:v1 # kept\n",
			after:  "annotations:\n  artifacthub.io/images: |\n    - name: web\n      image: quay.io/acme/web:v2\n  images: |\n    - image: quay.io/acme/worker:v2 # kept\n",
		},
	})
}

// Helm refuses to build a chart with an outdated lock, and only Helm can update
// it.
func TestChartLock(t *testing.T) {
	t.Parallel()
	lock := func(version string) string {
		return "dependencies:\n- name: web\n  repository: oci://quay.io/acme/charts\n  version: " + version +
			"\ndigest: " + digest1 + "\ngenerated: \"2026-11-21T10:00:00Z\"\n"
	}
	checkShapes(t, []shapeCase{
		{name: "another version", path: "shop/Chart.lock", before: lock("1.0.0"), refused: `shop/Chart.lock:4: the lock has 1.0.0; run "helm dependency update"`},
		{name: "the wanted version", path: "shop/Chart.lock", before: lock("2.0.0+build.5")},
		{name: "another chart", path: "shop/Chart.lock", before: "dependencies:\n- {name: other, repository: oci://quay.io/acme/charts, version: 1.0.0}\n"},
	})
}
