package shapes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
	"promoter/internal/updater/node"
)

// One value may be the version of several images: by an anchor, a merge key, a hub with a tag, or a parameter. A change of it
// reaches all of them.

// reader is an image that no component follows, and that has its version from a value.
type reader struct {
	name string
	line int
}

// reads records that an image that no component follows has its version from a scalar.
func (x *sink) reads(version *yaml.Node, name string, line int) {
	if x.readers == nil {
		x.readers = map[*yaml.Node][]reader{}
	}
	for _, known := range x.readers[version] {
		if known.name == name {
			return
		}
	}
	x.readers[version] = append(x.readers[version], reader{name, line})
}

// noteReader records the image of a mapping that is a group of values of no component, if it may share its version with others.
func noteReader(d *document, out *sink, m *yaml.Node) {
	if !d.aliased {
		return
	}
	for _, keys := range versionKeys {
		tag, _ := firstOf(m, []string{keys.tag})
		digest, _ := firstOf(m, keys.digests)
		if tag == nil && digest == nil {
			continue
		}
		for _, name := range groupNames(d, m, repositoryKeys(d, m, keys.tag, keys.repositories)) {
			if reference, err := image.Parse(name); err != nil || reference.Tag != "" || reference.Digest != "" {
				continue
			}
			for _, version := range []*yaml.Node{tag, digest} {
				if version != nil && mayShare(m, version) {
					out.reads(version, name, m.Line)
				}
			}
			return
		}
	}
}

// mayShare reports whether a value of a mapping may be one of others too: it has an anchor, or comes from one.
func mayShare(m, value *yaml.Node) bool {
	if slices.Contains(m.Content, value) {
		return value.Anchor != "" || m.Anchor != ""
	}
	return true
}

// noteEntryReader does so for an entry of kustomize's images.
func noteEntryReader(d *document, out *sink, entry, name *yaml.Node) {
	for _, key := range []string{"newTag", "digest"} {
		if version := node.Get(entry, key); d.aliased && version != nil && mayShare(entry, version) {
			out.reads(version, name.Value, entry.Line)
		}
	}
}

// barReaders bars the sites whose value is also the version of images that no component follows.
func (x *sink) barReaders() {
	if len(x.readers) == 0 {
		return
	}
	for i := range x.found.Sites {
		var texts []string
		for _, p := range x.found.Sites[i].Parts() {
			for _, r := range x.readers[p.Scalar.Node] {
				texts = append(texts, sharedWith(r))
			}
		}
		if len(texts) > 0 {
			x.found.Sites[i].Bar(errors.New("the value is also the version of " + strings.Join(texts, " and of ") +
				", which no component follows: give each image a value of its own, or add a component"))
		}
	}
}

func sharedWith(r reader) string {
	if r.line == 0 {
		return r.name
	}
	return fmt.Sprintf("%s in line %d", r.name, r.line)
}
