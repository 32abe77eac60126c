package identity

import (
	"strconv"
	"strings"
	"unicode"
)

// User is an account of a forge: a user who approves, comments, or closes.
type User struct {
	Host string `json:"host"` // of the forge; empty with plain Git
	// ID identifies the account for the forge, in whatever form it has. It survives
	// renames. Empty if the forge does not report one.
	ID    string `json:"id,omitempty"`
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"` // an app or service account, whose approval never counts
}

// unverifiedPrefix begins the login of a user that no forge authenticated. No account can
// have such a login.
const unverifiedPrefix = "unverified: "

// maxUnverified is the longest name of such a user, in runes.
const maxUnverified = 100

// Unverified returns a user that only claims a name. It has no permission, and may be any
// other user.
func Unverified(name string) User {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return ' '
	}, name)
	for strings.HasPrefix(name, unverifiedPrefix) {
		name = strings.TrimPrefix(name, unverifiedPrefix)
	}
	runes := []rune(strings.Join(strings.Fields(name), " "))
	if len(runes) == 0 {
		runes = []rune("unknown")
	}
	return User{Login: unverifiedPrefix + string(runes[:min(len(runes), maxUnverified)])}
}

// Verified reports whether a forge authenticated the user, who is no app or service account.
func (u User) Verified() bool {
	return u.Host != "" && u.Login != "" && !u.Bot && !strings.HasPrefix(u.Login, unverifiedPrefix)
}

// Promoter returns the user of what promoter decides by itself.
func Promoter() User { return User{Login: "promoter", Bot: true} }

// Same reports whether two values are the same account: by ID where both have one, else
// by login.
func (u User) Same(other User) bool {
	if !strings.EqualFold(u.Host, other.Host) {
		return false
	}
	if u.ID != "" && other.ID != "" {
		return u.ID == other.ID
	}
	return SameLogin(u.Login, other.Login)
}

// SameLogin reports whether two logins are of one account. Forges ignore the case of ASCII letters,
// and of no others: a Kelvin sign is not a k.
func SameLogin(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// NumericID returns the ID of a forge that numbers its repositories and accounts. It is
// empty for what is not such a number.
func NumericID[T ~int | ~int64](id T) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}
