package updater

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/image"
)

// change is a requested change: set a scalar to another value, add a key to a
// mapping, or remove a key.
type change struct {
	scalar  scalar // with a key: the value after which the new key is added, or the value to remove
	value   string
	key     string // key to add, remove, or rename to; empty to keep the scalar's key
	remove  bool
	rename  bool       // change both the value and the key
	mapping *yaml.Node // set with a key
}

// replacement is a span of a stream and its new content.
type replacement struct {
	stream *stream
	span   span
	text   string
}

// replacement returns the byte replacement for the change.
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
		text = " " + text // after the colon of a key without a value
	}
	return replacement{c.scalar.stream, found, text}, err
}

// isText reports whether the site contains a part of a version that is neither
// a tag nor a digest, so that pinning does not apply.
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

// editsOfText returns the change for a site to which pinning does not apply.
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

// text returns the text that the site must contain for the version.
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

// isRevision reports whether the text is a full commit ID.
func isRevision(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}
