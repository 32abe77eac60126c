package updater

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/span"
)

// edits returns the changes that update the site to the version.
func (s *site) edits(v image.Version) ([]span.Change, error) {
	if s.tag != nil && slices.Contains(textFormats, s.tag.format) {
		return s.editText(v)
	}
	want, err := s.desired(v)
	if err != nil {
		return nil, err
	}
	if changes := s.exchange(want); changes != nil {
		return changes, nil
	}
	changes := s.editTag(want)
	more, err := s.editDigest(want)
	return append(changes, more...), err
}

// textFormats are those to which pinning does not apply.
var textFormats = []format{formatChart, formatLocked, formatVersion, formatRevision, formatTemplate}

// editText returns the change for a site with a text to which pinning does not
// apply: a part of a version that is neither a tag nor a digest.
func (s *site) editText(v image.Version) ([]span.Change, error) {
	text, err := s.text(v)
	if err != nil {
		return nil, err
	}
	if current := s.tag.text(); s.tag.format == formatLocked && text != current {
		return nil, fmt.Errorf("the lock has %s; run \"helm dependency update\" for %s, or remove the lock", shorten(current), text)
	}
	if s.tag.create != "" {
		return []span.Change{span.AddKey(s.tag.mapping, s.tag.scalar, s.tag.create, text)}, nil
	}
	return s.tag.set(text), nil
}

// text returns the text that the site must contain for the version.
func (s *site) text(v image.Version) (string, error) {
	text := v.Tag
	switch s.tag.format {
	case formatTemplate:
		return fillTemplate(s.tag.template, s.followed.Component, v)
	case formatChart, formatLocked:
		text = strings.ReplaceAll(v.Tag, "_", "+")
	case formatVersion:
		text = v.Version
	case formatRevision:
		text = v.Revision
		if len(text) != 40 || strings.Trim(text, "0123456789abcdef") != "" {
			return "", errors.New("the image does not state the commit that it was built from, as 40 hex digits")
		}
	}
	if text == "" {
		return "", fmt.Errorf("the file has a %s and the wanted version has none", s.tag.format)
	}
	return text, nil
}

// desired is what a site must contain: the tag, the digest, or both.
type desired struct {
	tag, digest string // empty if absent
}

// desired determines what the site must contain for the version. Tag and digest
// always belong to the same version: each existing one is updated or removed.
func (s *site) desired(v image.Version) (desired, error) {
	tag, digest := s.current()
	needsTag, needsDigest := tag != "", digest != ""
	switch s.followed.Pin {
	case image.PinTag:
		needsTag, needsDigest = true, false
	case image.PinDigest:
		// A tag without a key of its own stays. Otherwise a Helm chart would use
		// its own default tag.
		needsTag = s.editable == nil && s.tag != nil && s.tag.format == formatTag && s.tag.text() != ""
		needsDigest = true
	case image.PinTagDigest:
		needsTag, needsDigest = true, true
	}
	if s.followed.Moving {
		needsDigest = true
	}
	switch {
	case s.editable != nil:
	case needsTag && s.tag == nil:
		return desired{}, errNoPlaceForTag
	case needsDigest && s.digest == nil && !s.tagTakesDigest():
		return desired{}, errNoPlaceForDigest
	}
	return s.fill(v, needsTag, needsDigest)
}

// form returns the parts of a version that the pin requires, if the site has others, and
// whether its version cannot be written in the form that the pin requires. A part that it does
// not have yet is tried with any value.
func (s *site) form(signed bool) (form edit.Form, fixed bool) {
	tag, digest := s.current()
	if tag == "" && digest == "" || s.tag != nil && slices.Contains(textFormats, s.tag.format) {
		return edit.Form{}, signed || s.tag != nil && s.tag.format == formatLocked
	}
	anyVersion := image.Version{Tag: cmp.Or(tag, "tag"), Digest: cmp.Or(digest, "sha256:"+strings.Repeat("0", 64))}
	want, err := s.desired(anyVersion)
	if err != nil {
		return edit.Form{}, true
	}
	form = edit.Form{Tag: want.tag != "", Digest: want.digest != ""}
	if form == (edit.Form{Tag: tag != "", Digest: digest != ""}) {
		return edit.Form{}, signed
	}
	if _, err := plan(s, anyVersion, signed); err != nil {
		return edit.Form{}, true
	}
	return form, false
}

// Advice for files that have no location for what the pin requires.
var (
	errNoPlaceForDigest = errors.New("the file has no place for a digest: set pin: tag+digest to write tag@digest, or give the file a digest key")
	errNoPlaceForTag    = errors.New("the file has no place for a tag: give the file a tag key, or set pin: digest")
)

// tagTakesDigest reports whether the digest may be appended to the tag's
// scalar.
func (s *site) tagTakesDigest() bool {
	if s.tag == nil {
		return false
	}
	_, digest := s.tag.read()
	switch s.tag.format {
	case formatReference:
		return true
	case formatTag:
		return digest != "" || s.followed.Pin == image.PinTagDigest
	default:
		return false
	}
}

// fill sets the parts to write from the version.
func (s *site) fill(v image.Version, needsTag, needsDigest bool) (desired, error) {
	name := s.followed.Repository.Familiar()
	var want desired
	if needsTag {
		if v.Tag == "" && s.followed.TagStays {
			v.Tag, _ = s.current()
		}
		if v.Tag == "" {
			return want, fmt.Errorf("the file has a tag and the wanted version has none: give %s:TAG@DIGEST", name)
		}
		want.tag = v.Tag
	}
	if needsDigest {
		if v.Digest == "" {
			return want, fmt.Errorf("the file has a digest, or must have one, and the wanted version has none: give %s:TAG@sha256:…", name)
		}
		want.digest = v.Digest
	}
	return want, nil
}

// exchange returns the change for an entry that has only a tag and needs only a
// digest, or the reverse: its line and comment stay. Otherwise it returns nil.
func (s *site) exchange(want desired) []span.Change {
	tag, digest := s.current()
	switch {
	case s.editable == nil:
		return nil
	case s.digest == nil && tag != "" && digest == "" && want.tag == "" && want.digest != "":
		return []span.Change{span.RenameKey(s.editable.mapping, s.tag.scalar, s.editable.digestKey, want.digest)}
	case s.tag == nil && digest != "" && want.digest == "" && want.tag != "":
		return []span.Change{span.RenameKey(s.editable.mapping, s.digest.scalar, s.editable.tagKey, want.tag)}
	default:
		return nil
	}
}

// editTag changes the scalar that contains the tag, together with the digest
// that it has or must have, or adds or removes its key.
func (s *site) editTag(want desired) []span.Change {
	switch {
	case s.tag == nil && s.editable != nil:
		return s.addKey(s.editable.tagKey, want.tag)
	case s.tag == nil:
		return nil
	case want.tag == "" && s.tag.format == formatTag && s.editable != nil && s.tag.text() != "":
		return []span.Change{span.RemoveKey(s.editable.mapping, s.tag.scalar)}
	case want.tag == "" && s.tag.format == formatTag:
		return s.tag.set("")
	}
	text := want.tag
	if s.tag.format == formatReference {
		text = s.tag.name
		if want.tag != "" {
			text += ":" + want.tag
		}
	}
	if want.digest != "" && s.digest == nil && s.appendsDigest() {
		text += "@" + want.digest
	}
	return s.tag.set(text)
}

// appendsDigest reports whether a digest without its own scalar is appended to
// the tag's scalar instead of getting a new key.
func (s *site) appendsDigest() bool {
	_, digest := s.tag.read()
	return s.editable == nil || digest != "" || s.tag.format == formatReference
}

// editDigest changes the scalar that contains only the digest, or adds or
// removes its key.
func (s *site) editDigest(want desired) ([]span.Change, error) {
	switch {
	case s.digest == nil && s.editable != nil && (s.tag == nil || !s.appendsDigest()):
		return s.addKey(s.editable.digestKey, want.digest), nil
	case s.digest == nil:
		return nil, nil
	case want.digest == "" && s.editable != nil && s.digest.text() != "":
		return []span.Change{span.RemoveKey(s.editable.mapping, s.digest.scalar)}, nil
	case s.digest.format == formatHex:
		algorithm, hex, _ := strings.Cut(want.digest, ":")
		if want.digest != "" && algorithm != "sha256" {
			return nil, fmt.Errorf("the file leaves out the digest's algorithm, which is sha256, and the wanted one is %s", algorithm)
		}
		return s.digest.set(hex), nil
	default:
		return s.digest.set(want.digest), nil
	}
}

// addKey adds a key with a value, unless that is empty, after the existing part.
func (s *site) addKey(key, value string) []span.Change {
	if value == "" {
		return nil
	}
	return []span.Change{span.AddKey(s.editable.mapping, s.first().scalar, key, value)}
}

// set returns the change of a part to another text, or nil if they are equal.
func (p *part) set(text string) []span.Change {
	value := p.before + text + p.after
	if value == p.scalar.Value() {
		return nil
	}
	return []span.Change{span.Set(p.scalar, value)}
}
