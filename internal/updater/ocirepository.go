package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
)

// shapeOCIRepository is the ref of Flux's OCIRepository.
const shapeOCIRepository edit.Shape = "oci-repository"

// findOCIRepository inspects spec.url and spec.ref. If ref has several fields,
// Flux uses the digest first, then semver, then the tag.
func findOCIRepository(d *document, out *sink, m *yaml.Node) {
	if !isObject(m, fluxSourceGroup, kindOCIRepository) {
		return
	}
	name, _ := ociRepository(node.Text(m, "spec", "url"), "")
	followed, found := d.follow(name)
	if !found {
		return
	}
	ref := node.At(m, "spec", "ref")
	if semver := node.Get(ref, "semver"); node.IsText(semver) {
		addChart(d, out, shapeOCIRepository, semver, followed)
		return
	}
	tag, digest := node.Get(ref, "tag"), node.Get(ref, "digest")
	if !node.IsText(tag) && !node.IsText(digest) {
		return
	}
	s := site{shape: shapeOCIRepository, followed: followed, editable: &editable{
		mapping: ref, tagKey: "tag", digestKey: "digest",
	}}
	addGroup(d, out, ref, s, tag, digest, "tag", "digest")
}
