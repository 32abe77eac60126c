package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// shapeOCIRepository is the ref of Flux's OCIRepository.
const shapeOCIRepository edit.Shape = "oci-repository"

// findOCIRepository inspects spec.url and spec.ref. If ref has several fields,
// Flux uses the digest first, then semver, then the tag.
func findOCIRepository(f *finder, m *yaml.Node) {
	if !isObject(m, fluxSourceGroup, kindOCIRepository) {
		return
	}
	name, _ := ociRepository(lookupText(m, "spec", "url"), "")
	followed, found := f.follow(name)
	if !found {
		return
	}
	ref := lookupPath(m, "spec", "ref")
	if semver := lookup(ref, "semver"); isText(semver) {
		f.addChart(shapeOCIRepository, semver, followed)
		return
	}
	tag, digest := lookup(ref, "tag"), lookup(ref, "digest")
	if !isText(tag) && !isText(digest) {
		return
	}
	s := site{shape: shapeOCIRepository, followed: followed, room: &room{
		stream: f.stream, mapping: ref, tagKey: "tag", digestKey: "digest",
	}}
	f.addGroup(ref, s, tag, digest, "tag", "digest")
}
