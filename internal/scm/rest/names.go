package rest

import (
	"regexp"
	"strings"

	"promoter/internal/fault"
)

// MaxRevision limits a revision, in bytes: a commit ID, a tag, or a branch.
const MaxRevision = 255

// safeName matches the names of owners, repositories, teams, and accounts on GitHub and
// Gitea. The libraries insert names into paths without escaping, and some are untrusted.
var safeName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

const maxName = 100 // bytes

// IsName reports whether a text is safe as one segment of a path of the API.
func IsName(name string) bool {
	return len(name) <= maxName && safeName.MatchString(name) && strings.Trim(name, ".") != ""
}

// SplitName splits OWNER/NAME. Its error is an Invalid fault.
func SplitName(name string) (owner, short string, err error) {
	owner, short, found := strings.Cut(name, "/")
	if !found || !IsName(owner) || !IsName(short) {
		return "", "", fault.New(fault.Invalid, "the name of a repository is OWNER/NAME")
	}
	return owner, short, nil
}
