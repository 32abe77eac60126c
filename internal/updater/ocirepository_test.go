package updater_test

import (
	"testing"

	"promoter/internal/image"
)

func ociRepositoryObject(url, ref string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web}\nspec:\n  url: " + url + "\n  ref: " + ref + "\n"
}

func TestOCIRepository_ref(t *testing.T) {
	t.Parallel()
	const manifests, chart = "oci://quay.io/acme/manifests", "oci://quay.io/acme/charts/web"
	ref := func(s string) string { return ociRepositoryObject(manifests, s) }
	checkShapes(t, []shapeCase{
		{name: "tag", before: ref("{tag: v1}"), after: ref("{tag: v2}"), kinds: "oci-repository"},
		{name: "digest", before: ref("{digest: " + digest1 + "}"), after: ref("{digest: " + digest2 + "}")},
		{name: "both", before: ref("{tag: v1, digest: " + digest1 + "}"), after: ref("{tag: v2, digest: " + digest2 + "}")},
		{name: "digest is added", pin: image.PinTagDigest, before: ref("{tag: v1}"), after: ref("{tag: v2, digest: " + digest2 + "}")},
		{name: "range", before: ref(`{semver: ">=1"}`), refused: "file.yaml:6: the range >=1 selects"},
		{name: "range beside a tag", before: ref(`{semver: ">=1", tag: v1}`), refused: "file.yaml:6: the range >=1 selects a version by itself"},
		{name: "semver beside a digest", before: ref("{semver: 1.0.0, digest: " + digest1 + "}"), refused: "Flux ignores semver beside the digest"},
		{
			name: "exact semver beside a tag", before: ociRepositoryObject(chart, "{semver: 1.0.0, tag: 1.0.0}"),
			after: ociRepositoryObject(chart, "{semver: 2.0.0+build.5, tag: 2.0.0_build.5}"),
		},
		{
			name:   "range without apiVersion",
			before: "kind: OCIRepository\nspec:\n  url: " + manifests + "\n  ref: {semver: 1.x, tag: v1}\n", refused: "file.yaml:4: the range 1.x",
		},
		{name: "variable", before: ref("{tag: \"${TAG}\"}"), refused: "variable"},
		{name: "no ref", before: "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nspec: {url: " + manifests + "}\n"},
		{name: "empty ref", before: ref("{}")},
		{name: "exact semver of a chart", before: ociRepositoryObject(chart, "{semver: 1.0.0}"), after: ociRepositoryObject(chart, "{semver: 2.0.0+build.5}")},
		{name: "tag of a chart", before: ociRepositoryObject(chart, "{tag: 1.0.0}"), after: ociRepositoryObject(chart, "{tag: 2.0.0_build.5}")},
		{name: "another repository", before: ociRepositoryObject("oci://quay.io/acme/manifests-extra", "{tag: v1}")},
		{name: "another scheme", before: ociRepositoryObject("https://quay.io/acme/manifests", "{tag: v1}")},
		{name: "another kind", before: "apiVersion: example.com/v1\nkind: OCIRepository\nspec: {url: " + manifests + ", ref: {tag: v1}}\n"},
		{name: "duplicate key", before: ref("{tag: v1, tag: v1}"), refused: "tag"},
	})
}
