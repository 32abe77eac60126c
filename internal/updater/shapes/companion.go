package shapes

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// Beside the version of an image, files may have its digest under a key of its own, or digests of images
// that belong to it. None of them may stay behind while the version changes.

// addCompanions adds what a mapping has besides a site in it. The digest of the same image becomes part of the site, or changes with
// it. Any other that belongs to the image refuses a change of the site: its meaning is known to the chart only. The prefix is what
// the keys of the site have in common.
func addCompanions(d *document, out *sink, m *yaml.Node, s *site.Site, prefix []string, whole bool) {
	if m == nil || m.Kind != yaml.MappingNode {
		return
	}
	var beside []*yaml.Node // keys and values of digests with another meaning
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], node.Resolve(m.Content[i+1])
		if !isDigest(value) || hasScalar(s, value) || out.isClaimed(value) || out.namesItself(d, value) {
			continue
		}
		rest, isKey := digestKey(key.Value, prefix)
		switch same := len(rest) == 0 || len(rest) == 1 && rest[0] == wordImage; {
		case !isKey:
			beside = append(beside, key, value)
		case same && s.Digest == nil && !s.Tag.HasDigest():
			s.Digest = site.DigestPart(d.scalar(value), key.Value)
		case same:
			followed := s.Followed
			followed.Pin, followed.Moving = "", false
			out.found.Sites = append(out.found.Sites, site.Site{
				Shape: s.Shape, Kind: s.Kind, Key: d.key(), Followed: followed, Digest: site.DigestPart(d.scalar(value), key.Value),
			})
			out.claimed[value] = followed.Component
		case hasOtherName(m, slices.Concat(prefix, rest)):
		case whole && strings.ToLower(rest[0]) != wordImage && !startsWithDigest(key.Value, prefix):
			beside = append(beside, key, value)
		default:
			s.Bar(stale(d, key, value))
		}
	}
	_, digest := s.Current()
	for i := 0; i < len(beside); i += 2 {
		if _, hex, _ := strings.Cut(digest, ":"); hex != "" && strings.HasSuffix(beside[i+1].Value, hex) {
			s.Bar(stale(d, beside[i], beside[i+1]))
		}
	}
}

// stale is why a site with a digest beside it must not change.
func stale(d *document, key, value *yaml.Node) error {
	const why = "the digest under %s in line %d would stay behind, and its image is not known: " +
		"remove it, or end its line with \"# promoter: COMPONENT.digest\" or \"# promoter: ignore\""
	return fmt.Errorf(why, key.Value, d.scalar(value).Position(d.file).Line)
}

// namesItself reports whether the config, or a comment, states what a scalar is.
func (x *sink) namesItself(d *document, n *yaml.Node) bool {
	s := d.scalar(n)
	_, marked := x.marker(s)
	return x.written[n] || marked || x.ignores(s)
}

// isDigest reports whether a value is a digest, with or without its algorithm.
func isDigest(n *yaml.Node) bool {
	if !node.IsText(n) {
		return false
	}
	return image.ValidDigest(n.Value) || len(n.Value) == 64 && strings.Trim(n.Value, "0123456789abcdef") == ""
}

func hasScalar(s *site.Site, n *yaml.Node) bool {
	return slices.ContainsFunc(s.Parts(), func(p *site.Part) bool { return p.Scalar.Node == n })
}

var digestWords = []string{"digest", "sha", "sha256"}

// digestKey returns the words of a key of digests, besides the prefix and the word for the digest.
func digestKey(key string, prefix []string) (rest []string, is bool) {
	words := wordsOfKey(key)
	if len(words) <= len(prefix) || !slices.Equal(words[:len(prefix)], prefix) {
		return nil, false
	}
	words = words[len(prefix):]
	at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(digestWords, word) })
	if at < 0 {
		return nil, false
	}
	return slices.Concat(words[:at], words[at+1:]), true
}

// startsWithDigest reports whether a key has the word for a digest right after the prefix.
func startsWithDigest(key string, prefix []string) bool {
	words := wordsOfKey(key)
	return len(words) > len(prefix) && slices.Contains(digestWords, words[len(prefix)])
}

// hasOtherName reports whether a mapping has another name or tag with a prefix: its digest belongs to that one.
func hasOtherName(m *yaml.Node, prefix []string) bool {
	for i := 0; i+1 < len(m.Content); i += 2 {
		words := wordsOfKey(m.Content[i].Value)
		if len(words) <= len(prefix) || !slices.Equal(words[:len(prefix)], prefix) {
			continue
		}
		switch words[len(words)-1] {
		case "tag", "repository", "repo", "image", "version", "name":
			return true
		}
	}
	return false
}

// besides is where digests may be beside the version of a group, and what their keys have in common.
type besides struct {
	mapping *yaml.Node
	prefix  []string
}

// besidesIn returns where they are beside a group whose keys have a prefix in a mapping.
func besidesIn(m *yaml.Node, g valuesGroup) besides {
	version := g.tag
	if version == nil {
		version = g.digest
	}
	words := wordsOfKey(keyOf(m, version))
	prefix := words[:max(len(words)-1, 0)]
	if last := len(prefix) - 1; last >= 0 && prefix[last] == wordImage {
		prefix = prefix[:last]
	}
	return besides{m, prefix}
}

// prefixOf returns the words of the key of a whole reference, without the word for the image.
func prefixOf(key string) []string {
	words := wordsOfKey(key)
	if len(words) > 0 && nameEnds[words[len(words)-1]] != "" {
		return words[:len(words)-1]
	}
	return words
}

// directValue returns the mapping that has a scalar as the value of one of its keys; nil: the scalar is in a list.
func directValue(d *document, n *yaml.Node) *yaml.Node {
	if len(d.parents) == 0 {
		return nil
	}
	m := d.parents[len(d.parents)-1]
	if keyOf(m, n) == "" {
		return nil
	}
	return m
}

// keyOf returns the key of a value in a mapping; empty: it is none of its own.
func keyOf(m, value *yaml.Node) string {
	for i := 0; m != nil && m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
		if node.Resolve(m.Content[i+1]) == value {
			return m.Content[i].Value
		}
	}
	return ""
}
