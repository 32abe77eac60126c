package image

import "strings"

// Limits of the grammar, in bytes: of the path and the tag from the distribution
// specification, of the host from RFC 1035 (253, and a port).
const (
	maxHost = 253 + len(":65535")
	maxPath = 255
	maxTag  = 128

	sha256Hex = 64
	sha512Hex = 128

	maxName      = maxHost + len("/") + maxPath
	maxReference = maxName + len(":") + maxTag + len("@sha512:") + sha512Hex
)

// Classes of bytes, as bits, for one table lookup per byte.
const (
	classLower     uint8 = 1 << iota // a-z
	classUpper                       // A-Z
	classDigit                       // 0-9
	classHex                         // 0-9 a-f
	classTag                         // allowed in a tag after its first byte
	classSpecial                     // . _ - : / @ [ ]
	classSeparator                   // . _ -
)

// classes maps each byte to its classes.
var classes = makeClasses()

func makeClasses() (table [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'f':
			table[c] = classLower | classHex | classTag
		case c >= 'g' && c <= 'z':
			table[c] = classLower | classTag
		case c >= 'A' && c <= 'Z':
			table[c] = classUpper | classTag
		case c >= '0' && c <= '9':
			table[c] = classDigit | classHex | classTag
		case c == '.' || c == '_' || c == '-':
			table[c] = classTag | classSpecial | classSeparator
		case strings.IndexByte(":/@[]", byte(c)) >= 0:
			table[c] = classSpecial
		}
	}
	return table
}

func is(c, class uint8) bool { return classes[c]&class != 0 }

// leading returns how many bytes at the beginning of s have one of the classes.
func leading(s string, class uint8) int {
	for i := range len(s) {
		if !is(s[i], class) {
			return i
		}
	}
	return len(s)
}

// all reports whether every byte of s has one of the classes.
func all(s string, class uint8) bool { return leading(s, class) == len(s) }

// ValidTag reports whether s is a tag: a letter, digit or underscore, then up to
// 127 letters, digits, underscores, dots and dashes.
func ValidTag(s string) bool {
	return s != "" && len(s) <= maxTag && s[0] != '.' && s[0] != '-' && all(s, classTag)
}

// ValidDigest reports whether s is a SHA-256 or SHA-512 digest with the right number of
// lower-case hex digits.
func ValidDigest(s string) bool {
	algorithm, hex, found := strings.Cut(s, ":")
	if !found || !all(hex, classHex) {
		return false
	}
	switch algorithm {
	case "sha256":
		return len(hex) == sha256Hex
	case "sha512":
		return len(hex) == sha512Hex
	default:
		return false
	}
}

// validPath reports whether s is path components between slashes.
func validPath(s string) bool {
	for {
		component, rest, more := strings.Cut(s, "/")
		if !validComponent(component) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// validComponent reports whether s is one component of a path: runs of lower-case
// letters and digits with one separator between them. Separators are a dot, one or two
// underscores, or any number of dashes.
func validComponent(s string) bool {
	for {
		word := leading(s, classLower|classDigit)
		if word == 0 || word == len(s) {
			return word > 0
		}
		s = s[word:]
		separator := s[:leading(s, classSeparator)]
		switch separator {
		case ".", "_", "__":
		default:
			if separator == "" || strings.Trim(separator, "-") != "" {
				return false
			}
		}
		s = s[len(separator):]
	}
}

// validHost reports whether s is a domain name, an IPv4 address or a bracketed
// IPv6 address, with or without a port.
func validHost(s string) bool {
	if len(s) > maxHost {
		return false
	}
	if strings.HasPrefix(s, "[") {
		address, port, found := strings.Cut(s[1:], "]")
		return found && validIPv6(address) && (port == "" || port[0] == ':' && validPort(port[1:]))
	}
	name, port, found := strings.Cut(s, ":")
	return validDomain(name) && (!found || validPort(port))
}

func validPort(s string) bool { return s != "" && all(s, classDigit) }

// validIPv6 follows the loose rule of the specification: hex digits and colons, without
// a zone.
func validIPv6(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != ':' && !is(c, classHex) && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}

// validDomain reports whether s is labels of letters, digits and inner dashes
// between dots.
func validDomain(s string) bool {
	start := true // at the first byte of a label
	for i := range len(s) {
		switch c := s[i]; {
		case is(c, classLower|classUpper|classDigit):
			start = false
		case start:
			return false
		case c == '.':
			start = s[i-1] != '-'
			if !start {
				return false
			}
		case c != '-':
			return false
		}
	}
	return !start && s[len(s)-1] != '-'
}

// attachment reports whether a tag is of something attached to an image instead of an
// image: cosign's signatures, attestations and SBOMs (sha256-HEX.sig), and the fallback
// tags of the OCI referrers API (sha256-HEX), which have at most 64 hex digits.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#referrers-tag-schema
func attachment(tag string) bool {
	for _, suffix := range []string{".sig", ".att", ".sbom"} {
		if strings.HasSuffix(tag, suffix) {
			return true
		}
	}
	algorithm, rest, found := strings.Cut(tag, "-")
	if !found || algorithm != "sha256" && algorithm != "sha512" || len(rest) < sha256Hex {
		return false
	}
	hex, suffix := rest[:sha256Hex], rest[sha256Hex:]
	return all(hex, classHex) && (suffix == "" || suffix[0] == '.')
}
