package image

import "strings"

// Reference is the name of an image as it is written in a file.
type Reference struct {
	Repository Repository
	Tag        string // empty: none; "latest" is never implied
	Digest     string // algorithm:hex; empty: none
	Name       string // the repository exactly as written
}

// Parse parses NAME[:TAG][@DIGEST] by the strict grammar of the distribution project.
// It is called for every scalar of every file, so it allocates nothing for most names
// and nothing for an error; the caller adds to an error what it was parsing.
//
// It deliberately differs from that project in three ways. A first component with a dot
// must be a valid host. A digest alone is not a name with a tag. The only digest
// algorithms are SHA-256 and SHA-512, which the OCI specification registers.
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

// identifier reports whether s is a digest or an image ID. The grammar would accept the
// first as a name with a tag and the second as a name.
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

// cutTag cuts at the last colon if it is after the last slash; a colon before that
// belongs to a port or an address.
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

// Version returns the tag and the digest of the reference.
func (r Reference) Version() Version { return Version{Tag: r.Tag, Digest: r.Digest} }

// String returns the text that was parsed.
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
