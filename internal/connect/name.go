package connect

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"promoter/internal/outbound"
	"promoter/internal/scm"
)

// qualifiedName is how the server file refers to a repository: HOST/OWNER/NAME, and
// with plain Git the host and the path of its URL. It is the current name, and is never
// stored.
type qualifiedName struct {
	text string
	fold bool // the forge compares names without regard to case
}

func nameOf(info scm.Info) qualifiedName {
	if info.URL != "" {
		return qualifiedName{text: strings.ToLower(outbound.Host(info.URL)) + "/" + info.Name, fold: true}
	}
	parsed, err := url.Parse(info.CloneURL)
	if err != nil {
		return qualifiedName{}
	}
	return qualifiedName{text: strings.ToLower(parsed.Host) + "/" + strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")}
}

// matches reports whether a glob of the server file matches the name: * stands for text
// without a slash, ** for any. Text that is not UTF-8 matches nothing, because a regular
// expression takes each of its bytes for the same character.
func (n qualifiedName) matches(glob string) bool {
	if n.text == "" || !utf8.ValidString(n.text) || !utf8.ValidString(glob) {
		return false
	}
	parts := strings.Split(glob, "**")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, "[^/]*")
	}
	flags := "(?s)"
	if n.fold {
		flags = "(?si)"
	}
	pattern, err := regexp.Compile(flags + "^" + strings.Join(parts, ".*") + "$")
	return err == nil && pattern.MatchString(n.text)
}

func (n qualifiedName) matchesAny(globs []string) bool { return slices.ContainsFunc(globs, n.matches) }

// owner returns the name up to its last slash.
func (n qualifiedName) owner() string {
	owner := n.text[:max(0, strings.LastIndex(n.text, "/"))]
	if n.fold {
		return strings.ToLower(owner)
	}
	return owner
}
