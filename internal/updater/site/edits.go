package site

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater/lex"
	"promoter/internal/updater/node"
	"promoter/internal/updater/span"
)

// Planned is a change with its location in the file.
type Planned struct {
	Change span.Change
	Bytes  span.Replacement
	Site   *Site
	Merged []*Site // of other components, whose changes of the same scalar are in this one
}

// Merge adds the change of another part of the same scalar. It returns false if it is not one.
func (p *Planned) Merge(other Planned) bool {
	merged, ok := span.Merge(p.Change, other.Change)
	if !ok {
		return false
	}
	bytes, err := merged.Replacement()
	if err != nil {
		return false
	}
	if p.Site.Followed.Component != other.Site.Followed.Component {
		p.Merged = append(p.Merged, other.Site)
	}
	p.Change, p.Bytes = merged, bytes
	return true
}

// Plan returns the changes of a site, either all of them or none.
func Plan(s *Site, version image.Version, signed bool) ([]Planned, error) {
	changes, err := s.edits(version)
	switch {
	case err != nil:
		return nil, err
	case len(changes) > 0 && s.barred != nil:
		return nil, s.barred
	case len(changes) > 0 && signed:
		return nil, errSigned
	}
	plans := make([]Planned, 0, len(changes))
	for _, c := range changes {
		bytes, err := c.Replacement()
		if err != nil {
			return nil, err
		}
		plans = append(plans, Planned{Change: c, Bytes: bytes, Site: s})
	}
	return plans, nil
}

// errSigned is the reason why a file managed by SOPS is not changed. Source:
// the section "Message Authentication Code" of https://getsops.io/docs/.
var errSigned = errors.New("SOPS signs all values of the file, also those that it does not encrypt, and would refuse to decrypt it: " +
	"change the value with sops, move it to another file, or set mac_only_encrypted")

// IsSigned reports whether SOPS signs the values of a file, encrypted or not. The
// signature covers unencrypted values too, unless they are explicitly excluded.
func IsSigned(documents []*yaml.Node) bool {
	for _, document := range documents {
		for _, root := range document.Content {
			if node.Text(root, "sops", "mac") != "" && node.Text(root, "sops", "mac_only_encrypted") != "true" {
				return true
			}
			if node.Text(root, "sops_mac") != "" && node.Text(root, "sops_mac_only_encrypted") != "true" { // in an env file
				return true
			}
		}
	}
	return false
}

// edits returns the changes that update the site to the version.
func (s *Site) edits(v image.Version) ([]span.Change, error) {
	if s.Tag != nil && slices.Contains(textFormats, s.Tag.Format) {
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
var textFormats = []Format{FormatChart, FormatLocked, FormatVersion, FormatRevision, FormatTemplate}

// editText returns the change for a site with a text to which pinning does not
// apply: a part of a version that is neither a tag nor a digest.
func (s *Site) editText(v image.Version) ([]span.Change, error) {
	text, err := s.text(v)
	if err != nil {
		return nil, err
	}
	if current := s.Tag.text(); s.Tag.Format == FormatLocked && text != current {
		return nil, fmt.Errorf("the lock has %s; run \"helm dependency update\" for %s, or remove the lock", lex.Shorten(current), text)
	}
	if s.Tag.Create != "" {
		return []span.Change{span.AddKey(s.Tag.Mapping, s.Tag.Scalar, s.Tag.Create, text)}, nil
	}
	return s.Tag.set(text), nil
}

// text returns the text that the site must contain for the version.
func (s *Site) text(v image.Version) (string, error) {
	text := v.Tag
	switch s.Tag.Format {
	case FormatTemplate:
		return edit.Fill(s.Tag.Template, s.Followed.Component, v) //nolint:wrapcheck // it names what is missing
	case FormatChart, FormatLocked:
		text = strings.ReplaceAll(v.Tag, "_", "+")
	case FormatVersion:
		text = v.Version
	case FormatRevision:
		text = v.Revision
		if len(text) != 40 || strings.Trim(text, "0123456789abcdef") != "" {
			return "", errors.New("the image does not state the commit that it was built from, as 40 hex digits")
		}
	}
	if text == "" {
		return "", fmt.Errorf("the file has a %s and the wanted version has none", s.Tag.Format)
	}
	return text, nil
}

// desired is what a site must contain: the tag, the digest, or both.
type desired struct {
	tag, digest string // empty if absent
}

// desired determines what the site must contain for the version. Tag and digest
// always belong to the same version: each existing one is updated or removed.
func (s *Site) desired(v image.Version) (desired, error) {
	tag, digest := s.Current()
	needsTag, needsDigest := tag != "", digest != ""
	switch s.Followed.Pin {
	case image.PinTag:
		needsTag, needsDigest = true, false
	case image.PinDigest:
		// A tag without a key of its own stays. Otherwise a Helm chart would use
		// its own default tag.
		needsTag = s.Editable == nil && s.Tag != nil && s.Tag.text() != "" &&
			(s.Tag.Format == FormatTag || s.Tag.Format == FormatReference && s.Digest != nil && tag != "")
		needsDigest = true
	case image.PinTagDigest:
		needsTag, needsDigest = true, true
	}
	if s.Followed.Moving {
		needsDigest = true
	}
	switch {
	case s.Editable != nil:
	case needsTag && s.Tag == nil:
		return desired{}, errNoPlaceForTag
	case needsDigest && s.Digest == nil && !s.tagTakesDigest():
		return desired{}, errNoPlaceForDigest
	}
	return s.fill(v, needsTag, needsDigest)
}

// form returns the parts of a version that the pin requires, if the site has others, and
// whether its version cannot be written in the form that the pin requires. A part that it does
// not have yet is tried with any value.
func (s *Site) form(signed bool) (form edit.Form, fixed bool) {
	tag, digest := s.Current()
	if tag == "" && digest == "" || s.Tag != nil && slices.Contains(textFormats, s.Tag.Format) {
		return edit.Form{}, signed || s.Tag != nil && s.Tag.Format == FormatLocked
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
	if _, err := Plan(s, anyVersion, signed); err != nil {
		return edit.Form{}, true
	}
	return form, false
}

// Advice for files that have no location for what the pin requires.
var (
	errNoPlaceForDigest = errors.New("the file has no place for a digest: set pin: tag+digest to write tag@digest, " +
		"or give the file a digest key")
	errNoPlaceForTag = errors.New("the file has no place for a tag: give the file a tag key, or set pin: digest")
)

// tagTakesDigest reports whether the digest may be appended to the tag's
// scalar.
func (s *Site) tagTakesDigest() bool {
	if s.Tag == nil {
		return false
	}
	_, digest := s.Tag.read()
	switch s.Tag.Format {
	case FormatReference:
		return true
	case FormatTag:
		return digest != "" || s.Followed.Pin == image.PinTagDigest
	default:
		return false
	}
}

// fill sets the parts to write from the version.
func (s *Site) fill(v image.Version, needsTag, needsDigest bool) (desired, error) {
	name := s.Followed.Repository.Familiar()
	var want desired
	if needsTag {
		if v.Tag == "" && s.Followed.TagStays {
			v.Tag, _ = s.Current()
		}
		if v.Tag == "" {
			return want, fmt.Errorf("the file has a tag and the wanted version has none: give %s:TAG@DIGEST", name)
		}
		want.tag = v.Tag
	}
	if needsDigest {
		if v.Digest == "" {
			return want, fmt.Errorf(
				"the file has a digest, or must have one, and the wanted version has none: give %s:TAG@sha256:…", name)
		}
		want.digest = v.Digest
	}
	return want, nil
}

// exchange returns the change for an entry that has only a tag and needs only a
// digest, or the reverse: its line and comment stay. Otherwise it returns nil.
func (s *Site) exchange(want desired) []span.Change {
	tag, digest := s.Current()
	switch {
	case s.Editable == nil:
		return nil
	case s.Digest == nil && tag != "" && digest == "" && want.tag == "" && want.digest != "":
		return []span.Change{span.RenameKey(s.Editable.Mapping, s.Tag.Scalar, s.Editable.DigestKey, want.digest)}
	case s.Tag == nil && digest != "" && want.digest == "" && want.tag != "":
		return []span.Change{span.RenameKey(s.Editable.Mapping, s.Digest.Scalar, s.Editable.TagKey, want.tag)}
	default:
		return nil
	}
}

// editTag changes the scalar that contains the tag, together with the digest
// that it has or must have, or adds or removes its key.
func (s *Site) editTag(want desired) []span.Change {
	switch {
	case s.Tag == nil && s.Editable != nil:
		return s.addKey(s.Editable.TagKey, want.tag)
	case s.Tag == nil:
		return nil
	case want.tag == "" && s.Tag.Format == FormatTag && s.Editable != nil && s.Tag.text() != "":
		return []span.Change{span.RemoveKey(s.Editable.Mapping, s.Tag.Scalar)}
	case want.tag == "" && s.Tag.Format == FormatTag:
		return s.Tag.set("")
	}
	text := want.tag
	if s.Tag.Format == FormatReference {
		text = s.Tag.Name
		if want.tag != "" {
			text += ":" + want.tag
		}
	}
	if want.digest != "" && s.Digest == nil && s.appendsDigest() {
		text += "@" + want.digest
	}
	return s.Tag.set(text)
}

// appendsDigest reports whether a digest without its own scalar is appended to
// the tag's scalar instead of getting a new key.
func (s *Site) appendsDigest() bool {
	_, digest := s.Tag.read()
	return s.Editable == nil || digest != "" || s.Tag.Format == FormatReference
}

// editDigest changes the scalar that contains only the digest, or adds or
// removes its key.
func (s *Site) editDigest(want desired) ([]span.Change, error) {
	switch {
	case s.Digest == nil && s.Editable != nil && (s.Tag == nil || !s.appendsDigest()):
		return s.addKey(s.Editable.DigestKey, want.digest), nil
	case s.Digest == nil:
		return nil, nil
	case want.digest == "" && s.Editable != nil && s.Digest.text() != "":
		return []span.Change{span.RemoveKey(s.Editable.Mapping, s.Digest.Scalar)}, nil
	case s.Digest.Format == formatHex:
		algorithm, hex, _ := strings.Cut(want.digest, ":")
		if want.digest != "" && algorithm != "sha256" {
			return nil, fmt.Errorf("the file leaves out the digest's algorithm, which is sha256, and the wanted one is %s", algorithm)
		}
		return s.Digest.set(hex), nil
	default:
		return s.Digest.set(want.digest), nil
	}
}

// addKey adds a key with a value, unless that is empty, after the existing part.
func (s *Site) addKey(key, value string) []span.Change {
	if value == "" {
		return nil
	}
	return []span.Change{span.AddKey(s.Editable.Mapping, s.First().Scalar, key, value)}
}

// set returns the change of a part to another text, or nil if they are equal.
func (p *Part) set(text string) []span.Change {
	if p.Before+text+p.After == p.Scalar.Value() {
		return nil
	}
	return []span.Change{span.SetPart(p.Scalar, p.Before, text, p.After)}
}
