package config

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name of a component, environment, window or
// application, in bytes. It keeps the three-part branch names of pull requests
// and the contexts of commit statuses short enough for every forge.
const maxName = 40

// nameGrammar is how the rule is shown to people.
const nameGrammar = "small letters, digits and inner dashes, at most 40"

// hashDigits is how much of a hash a derived name carries.
const hashDigits = 6

// DefaultApplication is the application that everything belongs to when no
// environment captures {application} from its paths.
const DefaultApplication = "default"

// ValidName says whether s may name a component, an environment, a window or an
// application: [a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?.
func ValidName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
}

// nameOf turns a captured text into a name: the text itself where it is one,
// else its slug and six hex digits of the SHA-256 of hashed, which keeps two
// texts with one slug apart.
func nameOf(text, hashed string) string {
	if ValidName(text) {
		return text
	}
	return hashedName(text, hashed)
}

// hashedName returns the slug of text with six hex digits of a hash behind it.
func hashedName(text, hashed string) string {
	sum := sha256.Sum256([]byte(hashed))
	suffix := hex.EncodeToString(sum[:])[:hashDigits]
	head := slug(text)
	if head == "" {
		return suffix
	}
	return head + "-" + suffix
}

// slug keeps letters and digits in small letters and makes one dash of every
// run of anything else; it leaves room for the hash.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r < 0x80 && r != '-' && nameByte(byte(r)) {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
		if b.Len() >= maxName-hashDigits-1 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
