package image

import "strings"

// Reference is the name of an image as a file has it.
type Reference struct {
	Repository Repository
	Tag        string // empty: none; "latest" is never implied
	Digest     string // algorithm:hex; empty: none
	Name       string // the repository exactly as written
}

// Parse reads NAME[:TAG][@DIGEST] by the strict grammar of the distribution
// project. It is called for every scalar of every file, so it allocates nothing
// for most names and nothing to refuse one; the caller adds to an error what it
// was reading.
//
// It differs from that project on purpose in three things. A first component
// with a dot must be a valid host. A digest alone is no name with a tag. Of the
// digest algorithms only SHA-256 and SHA-512 are known, as the OCI specification
// registers them.
func Parse(s string) (Reference, error) {
	if s == "" {
		return Reference{}, errEmpty
	}
	if len(s) > maxReference {
		return Reference{}, errTooLong
	}
	if !all(s, classLower|classUpper|classDigit|classSpecial) {
		return Reference{}, errName
	}
	if identifier(s) {
		return Reference{}, errIdentifier
	}
	name, digest, found := strings.Cut(s, "@")
	if found && !ValidDigest(digest) {
		return Reference{}, errDigest
	}
	name, tag, found := cutTag(name)
	if found && !ValidTag(tag) {
		return Reference{}, errTag
	}
	repository, err := parseName(name)
	if err != nil {
		return Reference{}, err
	}
	return Reference{Repository: repository, Tag: tag, Digest: digest, Name: name}, nil
}

// identifier says whether s is a digest or the id of an image. The grammar would
// take the one for a name with a tag and the other for a name.
func identifier(s string) bool {
	switch len(s) {
	case sha256Hex:
		return all(s, classHex)
	case len("sha256:") + sha256Hex, len("sha512:") + sha512Hex:
		return ValidDigest(s)
	default:
		return false
	}
}

// cutTag cuts at the last colon, if it stands after the last slash; a colon
// before that belongs to a port or an address.
func cutTag(s string) (name, tag string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ':':
			return s[:i], s[i+1:], true
		case '/':
			return s, "", false
		}
	}
	return s, "", false
}

// String returns the text that Parse read.
func (r Reference) String() string {
	text := r.Name
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}
