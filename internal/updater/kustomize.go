package updater

import (
	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// shapeKustomize is an entry of kustomize's images list, which Kustomizations of
// Flux have too.
const shapeKustomize edit.Shape = "kustomize-images"

// findKustomizeImages looks at the entries of an images list.
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

// findKustomizeImage looks at one entry. The new name is the repository where
// there is one; else the name is.
func findKustomizeImage(f *finder, entry *yaml.Node) {
	tag, digest := lookup(entry, "newTag"), lookup(entry, "digest")
	if !isText(tag) && !isText(digest) {
		return
	}
	name := lookupText(entry, "newName")
	if name == "" {
		name = lookupText(entry, "name")
	}
	followed, found := f.follow(name)
	if !found {
		return
	}
	s := site{shape: shapeKustomize, followed: followed, room: &room{
		stream: f.stream, mapping: entry, tagKey: "newTag", digestKey: "digest",
	}}
	f.addGroup(entry, s, tag, digest, "newTag", "digest", "newName")
}
