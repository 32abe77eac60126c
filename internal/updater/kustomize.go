package updater

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
)

// shapeKustomize is an entry of kustomize's images list, which Flux
// Kustomizations also have.
const shapeKustomize edit.Shape = "kustomize-images"

// findKustomizeImages inspects the entries of an images list.
func findKustomizeImages(f *finder, m *yaml.Node) {
	list := lookup(m, "images")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range list.Content {
		if item.Kind == yaml.MappingNode {
			findKustomizeImage(f, item)
		}
	}
}

// findKustomizeImage inspects one entry. The repository is newName if set,
// otherwise name. The name selects the images to change and is never changed
// itself.
func findKustomizeImage(f *finder, entry *yaml.Node) {
	name, newName := lookup(entry, "name"), lookup(entry, "newName")
	tag, digest := lookup(entry, "newTag"), lookup(entry, "digest")
	states := isText(tag) || isText(digest)
	if states || isText(newName) {
		f.claim(name)
	}
	if isText(newName) {
		name = newName
	}
	if !states || !isText(name) {
		return
	}
	reference, err := image.Parse(f.scalar(name).value())
	if err != nil {
		return
	}
	followed, found := f.follower.Follow(f.path, reference.Repository)
	if !found {
		return
	}
	if reference.Tag != "" || reference.Digest != "" {
		f.claim(name)
		f.refuse(name, followed.Component, "the name %s has a version of its own, so the entry holds for no other; name the repository alone", shorten(name.Value))
		return
	}
	s := site{shape: shapeKustomize, followed: followed, room: &room{
		stream: f.stream, mapping: entry, tagKey: "newTag", digestKey: "digest",
	}}
	f.addGroup(entry, s, tag, digest, "newTag", "digest", "newName")
}
