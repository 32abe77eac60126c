package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/node"
)

// shapeKustomize is an entry of kustomize's images list, which Flux
// Kustomizations also have.
const shapeKustomize edit.Shape = "kustomize-images"

// findKustomizeImages inspects the entries of an images list.
func findKustomizeImages(d *document, out *sink, m *yaml.Node) {
	list := node.Get(m, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if item.Kind == yaml.MappingNode {
			findKustomizeImage(d, out, item)
		}
	}
}

// findKustomizeImage inspects one entry. The repository is newName if set,
// otherwise name. The name selects the images to change and is never changed
// itself.
func findKustomizeImage(d *document, out *sink, entry *yaml.Node) {
	name, newName := node.Get(entry, "name"), node.Get(entry, "newName")
	tag, digest := node.Get(entry, "newTag"), node.Get(entry, "digest")
	states := node.IsText(tag) || node.IsText(digest)
	if states || node.IsText(newName) {
		out.claim(name)
	}
	if node.IsText(newName) {
		name = newName
	}
	if !states || !node.IsText(name) {
		return
	}
	reference, err := image.Parse(d.scalar(name).Value())
	if err != nil {
		return
	}
	followed, found := d.follower.Follow(d.file, reference.Repository)
	if !found {
		out.other(shapeKustomize, d.scalar(name), reference.Repository, node.Text(tag), node.Text(digest))
		return
	}
	if reference.Tag != "" || reference.Digest != "" {
		out.claim(name)
		out.refuse(d.scalar(name), followed.Component, "the name %s has a version of its own, so the entry applies to no other; name only the repository", shorten(name.Value))
		return
	}
	s := site{shape: shapeKustomize, followed: followed, editable: &editable{
		mapping: entry, tagKey: "newTag", digestKey: "digest",
	}}
	addGroup(d, out, entry, s, tag, digest, "newTag", "digest", "newName")
}
