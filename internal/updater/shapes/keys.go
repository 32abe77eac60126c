package shapes

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/updater/node"
	"promoter/internal/updater/span"
)

// indexes are what was read of the lists and mappings of a file that are asked for several times.
type indexes struct {
	keys     map[*yaml.Node]*keyIndex
	aliases  map[*yaml.Node]map[string]string   // of chart repositories, by mapping
	ofStream map[*span.Stream]map[string]string // the same, of all documents
}

func newIndexes() *indexes {
	return &indexes{map[*yaml.Node]*keyIndex{}, map[*yaml.Node]map[string]string{}, map[*span.Stream]map[string]string{}}
}

// keyIndex is what the keys of one mapping say. A mapping may have any number of keys and of groups of them, so that
// none of its groups reads all keys again.
type keyIndex struct {
	byValue map[*yaml.Node]string
	digests []digestBeside
	// named has the first words of each key of a name or a version that is longer than they are.
	named      map[string]bool
	registries []string // see parentRegistries
}

// digestBeside is the key and value of a digest.
type digestBeside struct {
	key, value *yaml.Node
	words      []string // of the key
}

// maxKey is the length of a key from which on it belongs to no group, in bytes.
const maxKey = 256

// keysOf returns the index of a mapping.
func (d *document) keysOf(m *yaml.Node) *keyIndex {
	index, known := d.indexes.keys[m]
	if known {
		return index
	}
	index = &keyIndex{byValue: map[*yaml.Node]string{}, named: map[string]bool{}}
	if m != nil && m.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			index.add(m.Content[i], node.Resolve(m.Content[i+1]))
		}
	}
	d.indexes.keys[m] = index
	return index
}

func (k *keyIndex) add(key, value *yaml.Node) {
	if _, known := k.byValue[value]; !known {
		k.byValue[value] = key.Value
	}
	k.addRegistry(key.Value, value)
	if len(key.Value) > maxKey {
		return
	}
	digest := isDigest(value)
	if !digest && !endsInName(key.Value) {
		return
	}
	words := wordsOfKey(key.Value)
	if digest {
		k.digests = append(k.digests, digestBeside{key, value, words})
	}
	if len(words) > 0 && slices.Contains(otherNames, words[len(words)-1]) {
		for n := range words {
			k.named[strings.Join(words[:n], " ")] = true
		}
	}
}

// otherNames are the last words of keys of names and versions, to which a digest beside them belongs.
var otherNames = []string{"tag", "repository", "repo", "image", "version", "name"}

func endsInName(key string) bool {
	return slices.ContainsFunc(otherNames, func(word string) bool {
		at := len(key) - len(word)
		return at >= 0 && strings.EqualFold(key[at:], word)
	})
}

func (k *keyIndex) addRegistry(key string, value *yaml.Node) {
	var found []string
	switch {
	case key == "image" || key == "images":
		found = appendText(nil, node.Get(value, "registry"))
	case !isRegistryKey(key):
	case node.IsScalar(value):
		found = appendText(nil, value)
	default:
		found = appendText(nil, node.Get(value, "url"), node.Get(value, "host"), node.Get(value, "name"))
	}
	for _, registry := range found {
		if len(k.registries) < maxRegistries && !slices.Contains(k.registries, registry) {
			k.registries = append(k.registries, registry)
		}
	}
}
