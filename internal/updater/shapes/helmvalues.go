package shapes

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// shapeHelmValues is a group of keys in the values of a Helm chart, with
// separate scalars for repository, tag and digest.
const shapeHelmValues edit.Shape = "helm-values"

// helmValuesKeys are the keys of which a group must have at least one.
var helmValuesKeys = []string{"tag", "digest", "version", "sha", "sha256", "imageTag", "image_tag", "imageDigest"}

// versionKeys pairs the keys that charts use for one version. The first pair of
// which a group has a key applies. "version" is treated as a tag only if the
// group has no tag: next to a name, or to an image without a slash, it is the
// version of a chart or package. A name under a key that contains "image" is
// exempt from this rule.
var versionKeys = []struct {
	tag, unless           string
	digests, repositories []string
}{
	{"version", "tag", []string{"digest", "sha", "sha256"}, []string{"repository"}},
	{"tag", "", []string{"digest", "sha", "sha256"}, []string{"repository", "repo", "image", "name"}},
	{"imageTag", "", []string{"imageDigest"}, []string{"imageRepository", "imageName", "repository", "image"}},
	{"image_tag", "", []string{"image_digest"}, []string{"image_repository", "image_name", "image"}},
}

// pinnedSuffix ends the repository of charts that put only a colon between
// repository and tag. The tag is then the digest without its algorithm.
const pinnedSuffix = "@sha256"

// valuesGroup is a mapping that sets the version of a followed repository.
type valuesGroup struct {
	followed          site.Followed
	tag, digest       *yaml.Node // nil if there is none
	tagKey, digestKey string
}

// findHelmValues inspects a mapping that may be a group of values.
func findHelmValues(d *document, out *sink, m *yaml.Node) {
	if g, found := groupOf(d, m); found {
		addValuesGroup(d, out, m, besides{m, nil}, g.followed, g.tag, g.digest, g.tagKey, g.digestKey)
		return
	}
	noteReader(d, out, m)
	findHub(d, out, m)
}

// groupOf returns the group that a mapping is.
func groupOf(d *document, m *yaml.Node) (valuesGroup, bool) {
	for _, keys := range versionKeys {
		tag, tagKey := firstOf(m, []string{keys.tag})
		digest, digestKey := firstOf(m, keys.digests)
		if tag == nil && digest == nil || keys.unless != "" && node.Get(m, keys.unless) != nil {
			continue
		}
		for _, name := range groupNames(d, m, repositoryKeys(d, m, keys.tag, keys.repositories)) {
			name, pinned := strings.CutSuffix(name, pinnedSuffix)
			followed, found := d.follow(name)
			switch {
			case found && pinned:
				return valuesGroup{followed, nil, tag, tagKey, digestKey}, true
			case found:
				return valuesGroup{followed, tag, digest, tagKey, digestKey}, true
			}
		}
	}
	return valuesGroup{}, false
}

// addValuesGroup adds a group whose repository is known. A group without a
// version leaves the version to the chart.
func addValuesGroup(
	d *document, out *sink, m *yaml.Node, beside besides, followed site.Followed, tag, digest *yaml.Node, keys ...string,
) {
	if !node.IsText(tag) && !node.IsText(digest) {
		out.inspected(d, m, followed.Component)
		return
	}
	s := site.Site{Shape: shapeHelmValues, Followed: followed}
	if len(keys) > 0 && strings.Contains(strings.ToLower(keys[0]), "tag") || lex.SaysImage(d.key()) {
		s.Kind = image.ArtifactImage
	}
	if setGroup(d, out, m, &s, tag, digest, append(keys, "repository", "registry")...) {
		addCompanions(d, out, beside.mapping, &s, beside.prefix, false)
		out.add(s, d.key())
	}
}

// firstOf returns the first of the keys that has a scalar value in the mapping,
// with that value.
func firstOf(m *yaml.Node, keys []string) (value *yaml.Node, key string) {
	for _, key := range keys {
		if value := node.Get(m, key); node.IsScalar(value) {
			return value, key
		}
	}
	return nil, ""
}

// repositoryKeys returns the keys next to a tag key that name its repository.
func repositoryKeys(d *document, m *yaml.Node, tagKey string, keys []string) []string {
	if tagKey != "version" {
		return keys
	}
	keys = keys[:len(keys):len(keys)]
	if strings.Contains(node.Text(m, "image"), "/") {
		keys = append(keys, "image")
	}
	if lex.SaysImage(d.key()) {
		keys = append(keys, "name")
	}
	return keys
}

// groupNames returns the repository names that the group may refer to, the most
// likely first. After the first key that names one, a word without a slash is
// only the group's own name, as in repository: quay.io/acme/nginx, name: nginx.
func groupNames(d *document, m *yaml.Node, keys []string) []string {
	var names []string
	for _, key := range keys {
		name := node.Text(m, key)
		if name == "" || len(names) > 0 && !strings.Contains(name, "/") {
			continue
		}
		if image := node.Text(m, "image"); key == "repository" && image != "" {
			names = append(names, withRegistry(d, m, joinName(name, image))...)
		}
		names = append(names, withRegistry(d, m, name)...)
	}
	return names
}

// withRegistry returns the name prefixed with each registry that the chart may
// use, and the name alone if the group has none of its own.
func withRegistry(d *document, m *yaml.Node, name string) []string {
	var names []string
	for _, registry := range globalRegistries(d) {
		names = append(names, joinName(registry, name))
	}
	if registry := node.FirstText(m, "registry", "imageRegistry", "image_registry", "hub"); registry != "" {
		return append(names, joinName(registry, name))
	}
	for _, registry := range parentRegistries(d) {
		names = append(names, joinName(registry, name))
	}
	return append(names, name)
}

// parentRegistries returns the registries of the mappings around the current node, the nearest
// first: the values of keys such as registry, imageRegistry, and image.registry.
func parentRegistries(d *document) []string {
	var found []string
	for _, parent := range slices.Backward(d.parents) {
		found = append(found, d.keysOf(parent).registries...)
	}
	return found
}

// isRegistryKey reports whether a key names the registry of images: registry, or that with one word
// before it.
func isRegistryKey(key string) bool {
	const word = "registry"
	if len(key) < len(word) || !strings.EqualFold(key[len(key)-len(word):], word) {
		return false
	}
	words := wordsOfKey(key)
	return len(words) <= 2 && words[len(words)-1] == word
}

func appendText(all []string, nodes ...*yaml.Node) []string {
	for _, n := range nodes {
		if node.IsText(n) {
			all = append(all, n.Value)
		}
	}
	return all
}

// globalRegistries returns the registries that the values around the current
// node set for all images.
func globalRegistries(d *document) []string {
	var found []string
	for _, root := range d.parents {
		global := node.Get(root, "global")
		for _, path := range [][]string{{"imageRegistry"}, {"registry"}, {"image", "registry"}} {
			if registry := node.Text(global, path...); registry != "" {
				found = append(found, registry)
			}
		}
	}
	return found
}

// joinName prefixes a name with a registry or folder.
func joinName(prefix, name string) string {
	prefix = strings.TrimPrefix(prefix, "oci://")
	return strings.TrimRight(prefix, "/") + "/" + strings.TrimLeft(name, "/")
}

// findHub inspects a hub and tag shared by several images: each image in the
// values below is hub/image.
func findHub(d *document, out *sink, m *yaml.Node) {
	hub, tag := node.Text(m, "hub"), node.Get(m, "tag")
	if hub == "" || !node.IsText(tag) {
		return
	}
	seen := map[string]bool{}
	for _, root := range append(d.parents[:len(d.parents):len(d.parents)], m) {
		if root != m && node.Get(root, "global") != m {
			continue
		}
		eachText(root, "image", func(name string) {
			if strings.Contains(name, "/") || seen[name] {
				return
			}
			seen[name] = true
			if followed, found := d.follow(joinName(hub, name)); !found {
				out.reads(tag, joinName(hub, name), 0)
			} else {
				addValuesGroup(d, out, m, besides{}, followed, tag, nil, "hub", "tag")
			}
		})
	}
}

// eachText calls visit with each scalar under the key, at any depth.
func eachText(n *yaml.Node, key string, visit func(string)) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == key && node.IsScalar(child) {
			visit(child.Value)
		}
		eachText(child, key, visit)
	}
}
