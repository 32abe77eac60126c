package shapes

import (
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/updater/node"
)

// versionEnds are the last words of keys that contain a version, by what a group calls them.
var versionEnds = map[string]string{"tag": "tag", "version": "version", "digest": "digest", "sha": "sha", "sha256": "sha256"}

// nameEnds are the last words of keys that contain a name or a registry, by what a group calls
// them.
var nameEnds = map[string]string{
	"repository": "repository", "repo": "repository", "image": "image", "registry": "registry", "hub": "registry",
}

// endsInVersion reports whether a key may end in a word for a version. It runs for every key of every
// file, and most objects of Kubernetes have an apiVersion, which is none.
func endsInVersion(key string) bool {
	if key == "apiVersion" {
		return false
	}
	for _, word := range []string{"tag", "version", "digest", "sha", "sha256"} {
		if at := len(key) - len(word); at >= 0 && strings.EqualFold(key[at:], word) {
			words := wordsOfKey(key)
			return (len(words) > 1 || isUpper(key)) && versionEnds[words[len(words)-1]] != ""
		}
	}
	return false
}

// findPrefixed inspects the keys of a mapping that have a prefix in common, as in
// defaultAirflowRepository and defaultAirflowTag, or WEB_IMAGE and WEB_IMAGE_TAG: each prefix is
// a group like a mapping of its own.
func findPrefixed(d *document, out *sink, m *yaml.Node) {
	d.parents = append(d.parents, m) // a registry without prefix is for all of them
	defer func() { d.parents = d.parents[:len(d.parents)-1] }()
	for _, group := range prefixGroups(m) {
		found, ok := groupOf(d, group)
		if !ok {
			noteReader(d, out, group)
		}
		if !ok || found.tag != nil && out.isClaimed(found.tag) || found.digest != nil && out.isClaimed(found.digest) {
			continue
		}
		addValuesGroup(d, out, group, besidesIn(d, m, found), found.followed, found.tag, found.digest, found.tagKey, found.digestKey)
	}
}

// prefixGroups returns a mapping for each prefix with a version, in their order. The keys have the
// names that they would have without the prefix.
func prefixGroups(m *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	byPrefix := map[string]*yaml.Node{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		words := wordsOfKey(m.Content[i].Value)
		if len(words) == 0 || len(words) < 2 && !isUpper(m.Content[i].Value) || !node.IsScalar(node.Resolve(m.Content[i+1])) {
			continue
		}
		role, found := versionEnds[words[len(words)-1]]
		prefix := strings.Join(words[:len(words)-1], " ")
		if found && byPrefix[prefix] == nil {
			byPrefix[prefix] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: m.Content[i].Line, Column: m.Content[i].Column}
			all = append(all, byPrefix[prefix])
		}
		if found {
			addTo(byPrefix[prefix], m.Content[i], role, m.Content[i+1])
		}
	}
	if len(all) > 0 {
		addNames(byPrefix, m, true)
		addNames(byPrefix, m, false)
	}
	return all
}

// addNames adds the names and registries to the groups: those of exactly the prefix of a group, or
// others where the group has none.
func addNames(byPrefix map[string]*yaml.Node, m *yaml.Node, own bool) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if !node.IsScalar(node.Resolve(m.Content[i+1])) {
			continue
		}
		for _, name := range namesOf(wordsOfKey(m.Content[i].Value)) {
			group := byPrefix[name.prefix]
			if group != nil && name.own == own && (own || node.Get(group, name.role) == nil) {
				addTo(group, m.Content[i], name.role, m.Content[i+1])
			}
		}
	}
}

// prefixed is what a key may be in the group of a prefix.
type prefixed struct {
	prefix, role string
	own          bool // the key has the prefix and the role, and nothing else
}

const wordImage = "image"

// namesOf returns what a key with a name is in groups: webImage is the image of the keys with the
// prefix web, and the repository of those with the prefix webImage. webRepository belongs to
// webTag, and otherwise to webImageTag.
func namesOf(words []string) []prefixed {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	role, prefix := nameEnds[words[last]], strings.Join(words[:last], " ")
	if words[last] == "name" && last > 0 && words[last-1] == wordImage {
		role = "repository"
	}
	if role == "" {
		return nil
	}
	withImage := strings.TrimSpace(prefix + " " + wordImage)
	switch {
	case words[last] == wordImage:
		return []prefixed{{prefix, role, true}, {withImage, "repository", false}}
	case last > 0 && words[last-1] == wordImage:
		return []prefixed{{prefix, role, true}, {strings.TrimSpace(strings.TrimSuffix(prefix, wordImage)), role, false}}
	default:
		return []prefixed{{prefix, role, true}, {withImage, role, false}}
	}
}

func addTo(group, key *yaml.Node, role string, value *yaml.Node) {
	named := *key
	named.Value = role
	group.Content = append(group.Content, &named, value)
}

// isUpper reports whether a key is written as an environment variable. There, a key may consist of
// only the last word.
func isUpper(key string) bool {
	return key != "" && strings.ToUpper(key) == key
}

// wordsOfKey splits a key at underscores, dashes, dots, and capital letters, and returns the words
// in lower case.
func wordsOfKey(key string) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(key[start:end]))
		}
		start = end
	}
	upper := isUpper(key)
	for i, r := range key {
		switch {
		case strings.ContainsRune("_-. ", r):
			cut(i)
			start = i + 1
		case !upper && unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(key[i-1])):
			cut(i)
		}
	}
	cut(len(key))
	return slices.Clip(words)
}
