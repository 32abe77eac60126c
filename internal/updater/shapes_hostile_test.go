package updater_test

import (
	"fmt"
	"strings"
	"testing"
)

// Repeated lists must not multiply the work: each case would take minutes if
// one list were walked for each entry of another.
func TestShapes_hostileLists(t *testing.T) {
	t.Parallel()
	const many = 5000
	repeat := func(format string) string {
		var text strings.Builder
		for i := range many {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	sources := repeat("---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme}\nspec: {url: \"oci://quay.io/acme/charts-%d\"}\n")
	releases := repeat("---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {chart: {spec: {chart: web, version: 1.0.%d, sourceRef: {kind: HelmRepository, name: acme}}}}\n")
	parameters := repeat("    - {name: a%d.tag, value: v1}\n")
	cases := []shapeCase{
		{name: "releases and sources", before: releases, others: map[string]string{"sources.yaml": sources}},
		{
			name:   "parameters",
			before: "spec:\n  source:\n    helm:\n      parameters:\n" + strings.ReplaceAll(parameters, "    - ", "        - ") + "    image: quay.io/acme/web:v1\n",
			after:  "spec:\n  source:\n    helm:\n      parameters:\n" + strings.ReplaceAll(parameters, "    - ", "        - ") + "    image: quay.io/acme/web:v2\n",
		},
		{
			name: "remote resources and images",
			before: "resources:\n" + repeat("  - https://github.com/acme/web%d//config?ref="+commit1+"\n") +
				"images:\n" + strings.Repeat("  - {name: quay.io/acme/web, newTag: v2}\n", many),
		},
		{
			name:   "blocks",
			before: repeat("a%d: |\n  b: |\n    image: quay.io/acme/web:v2\n"),
		},
	}
	checkShapes(t, cases)
}
