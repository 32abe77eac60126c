package updater_test

import (
	"strings"
	"testing"
)

// Two teams may use the same name for their sources. The source in the same
// namespace applies and, if the files name no namespace, the nearest one.
func TestHelmRepository_sameNames(t *testing.T) {
	t.Parallel()
	other := strings.Replace(acmeCharts, "quay.io/acme/charts", "quay.io/other/charts", 1)
	without := func(s string) string { return strings.Replace(s, ", namespace: flux-system", "", 1) }
	plain := strings.Replace(release("1.0.0", "{kind: HelmRepository, name: acme}"), ", namespace: apps", "", 1)
	after := strings.Replace(plain, "1.0.0", "2.0.0+build.5", 1)
	checkShapes(t, []shapeCase{
		{
			name:   "the namespace decides",
			others: map[string]string{"a.yaml": strings.Replace(other, "flux-system", "apps", 1), "b.yaml": acmeCharts},
			before: release("1.0.0", fluxSystem), after: release("2.0.0+build.5", fluxSystem),
		},
		{
			name: "the nearest folder decides", path: "tenants/acme/release.yaml",
			others: map[string]string{"tenants/acme/sources.yaml": without(acmeCharts), "tenants/other/sources.yaml": without(other)},
			before: plain, after: after,
		},
		{
			name: "equally near and different: unknown", path: "apps/release.yaml",
			others: map[string]string{"one/sources.yaml": without(acmeCharts), "two/sources.yaml": without(other)},
			before: plain,
		},
		{
			name: "equally near and the same", path: "apps/release.yaml",
			others: map[string]string{"one/sources.yaml": without(acmeCharts), "two/sources.yaml": without(acmeCharts)},
			before: plain, after: after,
		},
		{
			name: "no URL", path: "apps/release.yaml",
			others: map[string]string{"one/sources.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme}\n"},
			before: plain,
		},
	})
}
