package updater

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
)

// change is one wish: that a scalar has another value, that a mapping has
// another key, or that it loses one.
type change struct {
	scalar  scalar // with a key: the value behind which a new key goes, or the value that goes
	value   string
	key     string // of a key that is made or removed, or that the scalar gets; empty: the scalar keeps its key
	remove  bool
	rename  bool       // the scalar gets the value and the key
	mapping *yaml.Node // with a key
}

// replacement is a span of a stream that gets other bytes.
type replacement struct {
	stream *stream
	span   span
	text   string
}

// replacement finds the bytes of the change.
func (c *change) replacement() (replacement, error) {
	switch {
	case c.remove:
		return c.removal()
	case c.rename:
		return c.renaming()
	case c.key != "":
		return c.addition()
	}
	n := c.scalar.node
	if n.Style&yaml.TaggedStyle != 0 && strings.HasPrefix(n.Tag, "!!") && n.Tag != "!!str" {
		return replacement{}, fmt.Errorf("the tag %s says that the value is not text", shorten(n.Tag))
	}
	found, err := c.scalar.stream.span(n)
	if err != nil {
		return replacement{}, err
	}
	text, err := spell(n, string(c.scalar.stream.data[found.start:found.end]), c.value)
	if found.start == found.end {
		text = " " + text // behind the colon of a key without a value
	}
	return replacement{c.scalar.stream, found, text}, err
}

// isText says whether the site holds something of a version that is neither tag
// nor digest, so that no pin applies.
func (s *site) isText() bool {
	if s.tag == nil {
		return false
	}
	switch s.tag.spells {
	case spellsChart, spellsLocked, spellsVersion, spellsRevision, spellsTemplate:
		return true
	default:
		return false
	}
}

// editsOfText returns the change of a site to which no pin applies.
func (s *site) editsOfText(v image.Version) ([]change, error) {
	text, err := s.text(v)
	if err != nil {
		return nil, err
	}
	if s.tag.spells == spellsLocked && text != s.tag.share() {
		return nil, fmt.Errorf("the lock holds %s; run \"helm dependency update\" for %s, or remove the lock", shorten(s.tag.share()), text)
	}
	if s.tag.create != "" {
		return []change{{scalar: s.tag.scalar, value: text, key: s.tag.create, mapping: s.tag.mapping}}, nil
	}
	return s.tag.become(text), nil
}

// text is what the site shall hold of the version.
func (s *site) text(v image.Version) (string, error) {
	text := v.Tag
	switch s.tag.spells {
	case spellsTemplate:
		return fillTemplate(s.tag.template, s.followed.Component, v)
	case spellsChart, spellsLocked:
		text = strings.ReplaceAll(v.Tag, "_", "+")
	case spellsVersion:
		text = v.Version
	case spellsRevision:
		text = v.Revision
		if !isRevision(text) {
			return "", errors.New("the image does not say the commit that it was built from, as 40 hex digits")
		}
	}
	if text == "" {
		return "", fmt.Errorf("the file holds a %s and the wanted version has none", s.tag.spells)
	}
	return text, nil
}

// isRevision says whether the text is a full commit id.
func isRevision(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}
