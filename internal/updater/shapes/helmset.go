package shapes

import (
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/updater/node"
	"promoter/internal/updater/site"
)

// Shapes of values that Helm gets from its command line: as one argument, or as a list in a
// release of Helmfile.
const (
	shapeHelmSet  edit.Shape = "helm-set"
	shapeHelmfile edit.Shape = "helmfile-set"
)

// findHelmfileSet inspects the set lists of a release. The names of their entries form groups
// like parameters of Argo CD.
// https://helmfile.readthedocs.io/en/latest/#configuration
func findHelmfileSet(d *document, out *sink, m *yaml.Node) {
	if node.Get(m, "chart") == nil {
		return
	}
	findGroups(d, out, shapeHelmfile, groups(func(yield func(name, value *yaml.Node) bool) {
		for _, key := range helmfileKeys {
			list := node.Get(m, key)
			if list == nil || list.Kind != yaml.SequenceNode {
				continue
			}
			for name, value := range namedValues(list) {
				if !yield(name, value) {
					return
				}
			}
		}
	}))
}

var helmfileKeys = []string{"set", "setString"}

// setPair is one KEY=VALUE in an argument, with the offsets of its value.
type setPair struct {
	key        string
	start, end int
}

// findHelmSet inspects an argument with several values, as in
// --set image.repository=quay.io/acme/web,image.tag=v1. It claims the argument if a followed
// repository has a version in it.
// https://helm.sh/docs/intro/using_helm/#the-format-and-limitations-of---set
func findHelmSet(d *document, out *sink, n *yaml.Node) bool {
	if !strings.Contains(n.Value, "=") || !strings.Contains(n.Value, ",") && !strings.Contains(n.Value, setOption) {
		return false
	}
	if strings.Contains(n.Value, "\n") || strings.HasPrefix(d.key(), imageUpdater) {
		return false
	}
	found, twice := sitesInArgument(d, n)
	switch {
	case len(found) == 0:
		return false
	case len(found) == 1 && len(found[0].Parts()) == 1 && !twice:
		if problem := found[0].First().Problem(); problem != "" {
			out.refuse(d.scalar(n), found[0].Followed.Component, "%s", problem)
		} else {
			out.add(found[0], d.key())
		}
	default:
		for _, s := range found {
			out.refuse(d.scalar(n), s.Followed.Component, "the argument has several tags or digests; write each as an argument of its own")
		}
	}
	out.claim(n)
	return true
}

// sitesInArgument returns the versions of followed repositories in an argument: whole
// references, and groups like those in a values file. It reports whether a key of a group
// occurs twice.
func sitesInArgument(d *document, n *yaml.Node) (found []site.Site, twice bool) {
	value := d.scalar(n).Value()
	pairOf := map[*yaml.Node]setPair{}
	partAt := func(of *yaml.Node, form site.Format) *site.Part {
		at := pairOf[of]
		return &site.Part{Scalar: d.scalar(n), Format: form, Before: value[:at.start], After: value[at.end:]}
	}
	var names, texts []*yaml.Node
	for _, pair := range setPairs(value) {
		text := value[pair.start:pair.end]
		if followed, reference, ok := followedReference(d, text, pair.key); ok {
			found = append(found, site.NewReference(shapeHelmSet, d.scalar(n), followed, reference, value[:pair.start], value[pair.end:]))
			continue
		}
		valueNode := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
		pairOf[valueNode] = pair
		names = append(names, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: pair.key})
		texts = append(texts, valueNode)
	}
	for _, group := range groups(func(yield func(name, value *yaml.Node) bool) {
		for i := range names {
			if !yield(names[i], texts[i]) {
				return
			}
		}
	}) {
		g, ok := groupOf(d, group)
		if !ok {
			continue
		}
		for _, key := range []string{g.tagKey, g.digestKey, "repository", "registry"} {
			twice = twice || node.Duplicate(group, key) != nil
		}
		s := site.Site{Shape: shapeHelmSet, Followed: g.followed}
		if node.IsText(g.tag) {
			s.Tag = partAt(g.tag, site.FormatTag)
		}
		if node.IsText(g.digest) {
			s.Digest = partAt(g.digest, site.DigestFormat(g.digest.Value, g.digestKey))
		}
		if len(s.Parts()) > 0 {
			found = append(found, s)
		}
	}
	return found, twice
}

const setOption = "--set"

// setOptions matches an option of Helm whose value is a list of pairs.
var setOptions = regexp.MustCompile(`^["']?--set(?:-string)?$`)

// setKey matches the key of a pair.
var setKey = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]+$`)

// setPairs returns the pairs in the --set options of an argument, or in an argument that
// consists of nothing but several pairs. What needs an escape in Helm is no reference, and
// is left out.
func setPairs(value string) []setPair {
	var pairs []setPair
	words, expected := wordsOf(value), false
	for _, word := range words {
		text := value[word[0]:word[1]]
		option, _, joined := strings.Cut(text, "=")
		switch {
		case setOptions.MatchString(text):
			expected = true
			continue
		case joined && setOptions.MatchString(option):
			pairs = append(pairs, pairsIn(value, word[0]+len(option)+1, word[1])...)
		case expected:
			pairs = append(pairs, pairsIn(value, word[0], word[1])...)
		case len(words) == 1:
			if all := pairsIn(value, word[0], word[1]); len(all) == strings.Count(text, ",")+1 {
				pairs = all
			}
		}
		expected = false
	}
	return pairs
}

// wordsOf returns the offsets of the words of a text.
func wordsOf(text string) [][2]int {
	var words [][2]int
	start := -1
	for i := 0; i <= len(text); i++ {
		space := i == len(text) || text[i] == ' ' || text[i] == '\t'
		switch {
		case !space && start < 0:
			start = i
		case space && start >= 0:
			words = append(words, [2]int{start, i})
			start = -1
		}
	}
	return words
}

// pairsIn returns the pairs in a part of a text, without quotes around it.
func pairsIn(text string, start, end int) []setPair {
	var pairs []setPair
	start, end = unquoted(text, start, end)
	for start < end {
		next := end
		if comma := strings.IndexByte(text[start:end], ','); comma >= 0 {
			next = start + comma
		}
		key, value, found := strings.Cut(text[start:next], "=")
		if found && setKey.MatchString(key) && !strings.ContainsAny(value, `\{}`) {
			from, to := unquoted(text, start+len(key)+1, next)
			pairs = append(pairs, setPair{key, from, to})
		}
		start = next + 1
	}
	return pairs
}

// unquoted leaves out the quotes at both ends.
func unquoted(text string, start, end int) (int, int) {
	for end-start > 1 && (text[start] == '"' || text[start] == '\'') && text[end-1] == text[start] {
		start, end = start+1, end-1
	}
	return start, end
}
