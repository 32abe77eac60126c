package identity

import (
	"strconv"
	"strings"
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

// Same reports whether two values are the same account: by ID where both have one, else
// by login. Forges compare logins case-insensitively.
func (u User) Same(other User) bool {
	if !strings.EqualFold(u.Host, other.Host) {
		return false
	}
	if u.ID != "" && other.ID != "" {
		return u.ID == other.ID
	}
	return strings.EqualFold(u.Login, other.Login)
}

// NumericID returns the ID of a forge that numbers its repositories and accounts. It is
// empty for what is not such a number.
func NumericID[T ~int | ~int64](id T) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}
