package updater

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
)

// addGroup adds the site of a mapping whose tag and digest have separate keys.
// Either may be nil. The given keys must not be duplicated in the mapping.
func (f *finder) addGroup(m *yaml.Node, s site, tag, digest *yaml.Node, keys ...string) {
	f.claim(tag, digest)
	for _, key := range keys {
		if twice := secondKey(m, key); twice != nil {
			f.refuse(twice, s.followed.Component, "the key %s stands twice, and readers differ in which one they take", key)
			return
		}
	}
	if isScalar(tag) {
		s.tag = &part{scalar: f.scalar(tag), spells: spellsTag}
	}
	if isScalar(digest) {
		s.digest = digestPart(f.scalar(digest))
	}
	for _, p := range s.parts() {
		if problem := p.problem(); problem != "" {
			f.refuse(p.scalar.node, s.followed.Component, "%s", problem)
			return
		}
	}
	f.add(s)
}

// problem returns why a scalar cannot be the tag or digest that its key
// implies, or "" if it can. An empty value is valid: the key exists without a
// version.
func (p *part) problem() string {
	share := p.share()
	tag, digest := p.read()
	switch {
	case share == "":
		return ""
	case isVariable(share):
		return "the version is a variable (" + shorten(share) + "); change it where the variable is set"
	case p.spells == spellsVersion || p.spells == spellsRevision:
		return ""
	case tag == "" && digest == "", tag != "" && !image.ValidTag(tag), digest != "" && !image.ValidDigest(digest):
		return fmt.Sprintf("the value %q is not a tag or digest", shorten(share))
	default:
		return ""
	}
}

// secondKey returns the second occurrence of a key in a mapping, or nil.
func secondKey(m *yaml.Node, key string) *yaml.Node {
	seen := false
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			continue
		}
		if seen {
			return m.Content[i]
		}
		seen = true
	}
	return nil
}
