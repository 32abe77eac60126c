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
	keys := d.keysOf(m)
	var beside []digestBeside // with another meaning
	for _, one := range keys.digests {
		key, value := one.key, one.value
		if hasScalar(s, value) || out.isClaimed(value) || out.namesItself(d, value) {
			continue
		}
		rest, isKey := digestKey(one.words, prefix)
		switch same := len(rest) == 0 || len(rest) == 1 && rest[0] == wordImage; {
		case !isKey:
			beside = append(beside, one)
		case same && s.Digest == nil && !s.Tag.HasDigest():
			s.Digest = site.DigestPart(d.scalar(value), key.Value)
		case same:
			followed := s.Followed
			followed.Pin, followed.Moving = "", false
			out.found.Sites = append(out.found.Sites, site.Site{
				Shape: s.Shape, Kind: s.Kind, Key: d.key(), Followed: followed, Digest: site.DigestPart(d.scalar(value), key.Value),
			})
			out.claimed[value] = followed.Component
		case keys.named[strings.Join(slices.Concat(prefix, rest), " ")]:
		case whole && strings.ToLower(rest[0]) != wordImage && !startsWithDigest(one.words, prefix):
			beside = append(beside, one)
		default:
			s.Bar(stale(d, key, value))
		}
	}
	_, digest := s.Current()
	for _, one := range beside {
		if _, hex, _ := strings.Cut(digest, ":"); hex != "" && strings.HasSuffix(one.value.Value, hex) {
			s.Bar(stale(d, one.key, one.value))
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

// digestKey returns the words of the key of a digest, besides the prefix and the word for the digest.
func digestKey(words, prefix []string) (rest []string, is bool) {
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
func startsWithDigest(words, prefix []string) bool {
	return len(words) > len(prefix) && slices.Contains(digestWords, words[len(prefix)])
}

// besides is where digests may be beside the version of a group, and what their keys have in common.
type besides struct {
	mapping *yaml.Node
	prefix  []string
}

// besidesIn returns where they are beside a group whose keys have a prefix in a mapping.
func besidesIn(d *document, m *yaml.Node, g valuesGroup) besides {
	version := g.tag
	if version == nil {
		version = g.digest
	}
	words := wordsOfKey(d.keysOf(m).byValue[version])
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
	if d.keysOf(m).byValue[n] == "" {
		return nil
	}
	return m
}
