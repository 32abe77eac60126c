package git

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing/object"

	"promoter/internal/fault"
)

// Signature says who made a commit, and when. Anyone can write any: it proves
// nothing.
type Signature struct {
	Name  string
	Email string
	When  time.Time // whole seconds, with its offset from UTC
}

func signatureOf(s object.Signature) Signature {
	return Signature{Name: s.Name, Email: s.Email, When: s.When}
}

// line returns the signature as it stands in a commit. What would end it early is
// left out, as Git does.
func (s Signature) line() (string, error) {
	name, email := harmless(s.Name), harmless(s.Email)
	if name == "" || email == "" {
		return "", fault.New(fault.Invalid, "a signature needs a name and an address, not %.100q and %.100q", s.Name, s.Email)
	}
	if s.When.Unix() <= 0 {
		return "", fault.New(fault.Invalid, "the signature of %.100q has no time", s.Name)
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, s.When.Unix(), s.When.Format("-0700")), nil
}

// harmless leaves out of a name what has a meaning in a commit's header, and from
// its ends what Git strips there.
func harmless(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '<' || r == '>' {
			return -1
		}
		return r // what is no UTF-8 becomes U+FFFD
	}, name)
	return strings.Trim(name, ` .,:;"\'`)
}
