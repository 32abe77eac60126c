package updater

import (
	"errors"
	"fmt"
	"strings"

	"promoter/internal/image"
)

// target is what a site shall state: the tag, the digest, or both.
type target struct {
	tag, digest string // empty: not stated
}

// Advice for files that have no place for what the pin demands.
var (
	errNoPlaceForDigest = errors.New("the file has no place for a digest: set pin: tag+digest to write tag@digest, or give the file a digest key")
	errNoPlaceForTag    = errors.New("the file has no place for a tag: give the file a tag key, or set pin: digest")
)

// target decides what the site shall state of the version. Tag and digest always
// belong to the same version: what is stated is stated anew or taken away.
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

// keepsTag says that the tag stays beside the digest even where the digest alone
// is asked for: a Helm chart would put its own default in the tag's place.
func (s *site) keepsTag() bool {
	return s.room == nil && s.tag != nil && s.tag.spells == spellsTag && s.tag.share() != ""
}

// fits says whether the file has a place for what shall be stated.
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

// tagTakesDigest says whether the digest may stand in the tag's scalar.
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

// fill takes from the version what shall be stated.
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

// edits returns what brings the site to the version.
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

// exchange is the change of an entry that has a tag alone and shall have a digest
// alone, or the other way round; nothing where it is otherwise.
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

// editTag changes the scalar that holds the tag, and with it the digest that it
// holds or shall hold.
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

// addTag makes the key of a tag where there is room for one.
func (s *site) addTag(tag string) ([]change, error) {
	if s.room == nil {
		return nil, nil
	}
	return s.addKey(s.room.tagKey, tag)
}

// digestStandsInTag says where a digest without a scalar of its own goes: into
// the tag's scalar, or under a new key.
func (s *site) digestStandsInTag() bool {
	_, digest := s.tag.read()
	return s.room == nil || digest != "" || s.tag.spells == spellsReference
}

// editDigest changes the scalar that holds the digest alone, or makes or removes
// its key.
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

// dropTag takes the tag away: its key where that is the updater's to remove.
func (s *site) dropTag() ([]change, error) {
	if s.room != nil && s.tag.share() != "" {
		return s.removeKey(s.room.tagKey)
	}
	return s.tag.become(""), nil
}

// become is the change of a scalar's share to another text; nothing if it has it
// already.
func (p *part) become(share string) []change {
	value := p.before + share + p.after
	if value == p.scalar.value() {
		return nil
	}
	return []change{{scalar: p.scalar, value: value}}
}
