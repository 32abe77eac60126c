package updater

import (
	"errors"
	"fmt"
	"strings"

	"promoter/internal/image"
)

// target is what a site must contain: the tag, the digest, or both.
type target struct {
	tag, digest string // empty if absent
}

// Advice for files that have no location for what the pin requires.
var (
	errNoPlaceForDigest = errors.New("the file has no place for a digest: set pin: tag+digest to write tag@digest, or give the file a digest key")
	errNoPlaceForTag    = errors.New("the file has no place for a tag: give the file a tag key, or set pin: digest")
)

// target determines what the site must contain for the version. Tag and digest
// always belong to the same version: each existing one is updated or removed.
func (s *site) target(v image.Version) (target, error) {
	tag, digest := s.present()
	holdTag, holdDigest := tag != "", digest != ""
	switch s.followed.Pin {
	case image.PinTag:
		holdTag, holdDigest = true, false
	case image.PinDigest:
		holdTag, holdDigest = s.keepsTag(), true
	case image.PinTagDigest:
		holdTag, holdDigest = true, true
	}
	if s.followed.Moving {
		holdDigest = true
	}
	if err := s.fits(holdTag, holdDigest); err != nil {
		return target{}, err
	}
	return s.fill(v, holdTag, holdDigest)
}

// keepsTag reports whether the tag stays next to the digest even if only the
// digest is requested. Otherwise a Helm chart would use its own default tag.
func (s *site) keepsTag() bool {
	return s.room == nil && s.tag != nil && s.tag.spells == spellsTag && s.tag.share() != ""
}

// fits reports whether the file has a location for the parts to write.
func (s *site) fits(holdTag, holdDigest bool) error {
	if s.room != nil {
		return nil
	}
	if holdTag && s.tag == nil {
		return errNoPlaceForTag
	}
	if holdDigest && s.digest == nil && !s.tagTakesDigest() {
		return errNoPlaceForDigest
	}
	return nil
}

// tagTakesDigest reports whether the digest may be appended to the tag's
// scalar.
func (s *site) tagTakesDigest() bool {
	if s.tag == nil {
		return false
	}
	_, digest := s.tag.read()
	switch s.tag.spells {
	case spellsReference:
		return true
	case spellsTag:
		return digest != "" || s.followed.Pin == image.PinTagDigest
	default:
		return false
	}
}

// fill sets the parts to write from the version.
func (s *site) fill(v image.Version, holdTag, holdDigest bool) (target, error) {
	name := s.followed.Repository.Familiar()
	var t target
	if holdTag {
		if v.Tag == "" && s.followed.TagStays {
			v.Tag, _ = s.present()
		}
		if v.Tag == "" {
			return t, fmt.Errorf("the file holds a tag and the wanted version has none: give %s:TAG@DIGEST", name)
		}
		t.tag = v.Tag
	}
	if holdDigest {
		if v.Digest == "" {
			return t, fmt.Errorf("the file holds a digest, or shall hold one, and the wanted version has none: give %s:TAG@sha256:…", name)
		}
		t.digest = v.Digest
	}
	return t, nil
}

// edits returns the changes that update the site to the version.
func (s *site) edits(v image.Version) ([]change, error) {
	if s.isText() {
		return s.editsOfText(v)
	}
	want, err := s.target(v)
	if err != nil {
		return nil, err
	}
	if changes := s.exchange(want); changes != nil {
		return changes, nil
	}
	changes, err := s.editTag(want)
	if err != nil {
		return nil, err
	}
	more, err := s.editDigest(want)
	return append(changes, more...), err
}

// exchange returns the change for an entry that has only a tag and needs only a
// digest, or the reverse. Otherwise it returns nil.
func (s *site) exchange(want target) []change {
	tag, digest := s.present()
	switch {
	case s.room == nil:
		return nil
	case s.digest == nil && tag != "" && digest == "" && want.tag == "" && want.digest != "":
		return s.renameKey(s.room.digestKey, want.digest)
	case s.tag == nil && digest != "" && want.digest == "" && want.tag != "":
		return s.renameKey(s.room.tagKey, want.tag)
	default:
		return nil
	}
}

// editTag changes the scalar that contains the tag, together with the digest
// that it has or must have.
func (s *site) editTag(want target) ([]change, error) {
	if s.tag == nil {
		return s.addTag(want.tag)
	}
	if want.tag == "" && s.tag.spells == spellsTag {
		return s.dropTag()
	}
	share := want.tag
	if s.tag.spells == spellsReference {
		share = s.tag.name
		if want.tag != "" {
			share += ":" + want.tag
		}
	}
	if want.digest != "" && s.digest == nil && s.digestStandsInTag() {
		share += "@" + want.digest
	}
	return s.tag.become(share), nil
}

// addTag adds a tag key if the mapping allows it.
func (s *site) addTag(tag string) ([]change, error) {
	if s.room == nil {
		return nil, nil
	}
	return s.addKey(s.room.tagKey, tag)
}

// digestStandsInTag reports whether a digest without its own scalar is appended
// to the tag's scalar instead of getting a new key.
func (s *site) digestStandsInTag() bool {
	_, digest := s.tag.read()
	return s.room == nil || digest != "" || s.tag.spells == spellsReference
}

// editDigest changes the scalar that contains only the digest, or adds or
// removes its key.
func (s *site) editDigest(want target) ([]change, error) {
	switch {
	case s.digest == nil && s.room != nil && (s.tag == nil || !s.digestStandsInTag()):
		return s.addKey(s.room.digestKey, want.digest)
	case s.digest == nil:
		return nil, nil
	case want.digest == "" && s.room != nil && s.digest.share() != "":
		return s.removeKey(s.room.digestKey)
	case s.digest.spells == spellsHex:
		algorithm, hex, _ := strings.Cut(want.digest, ":")
		if want.digest != "" && algorithm != "sha256" {
			return nil, fmt.Errorf("the file leaves out the digest's algorithm, which is sha256, and the wanted one is %s", algorithm)
		}
		return s.digest.become(hex), nil
	default:
		return s.digest.become(want.digest), nil
	}
}

// dropTag removes the tag, including its key if the updater may remove it.
func (s *site) dropTag() ([]change, error) {
	if s.room != nil && s.tag.share() != "" {
		return s.removeKey(s.room.tagKey)
	}
	return s.tag.become(""), nil
}

// become returns the change of a scalar's share to another text, or nil if they
// are equal.
func (p *part) become(share string) []change {
	value := p.before + share + p.after
	if value == p.scalar.value() {
		return nil
	}
	return []change{{scalar: p.scalar, value: value}}
}
