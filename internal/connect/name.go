package connect

import (
	"net/url"
	"slices"
	"strings"

	"promoter/internal/glob"
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

// matches reports whether a pattern of the server file matches the name.
func (n qualifiedName) matches(pattern string) bool {
	if n.fold {
		return n.text != "" && glob.Match(strings.ToLower(pattern), strings.ToLower(n.text))
	}
	return n.text != "" && glob.Match(pattern, n.text)
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

// tenant returns HOST/OWNER, where OWNER is the first part of the path: users create
// nested groups as they like.
func (n qualifiedName) tenant() string {
	host, path, _ := strings.Cut(n.text, "/")
	owner, _, _ := strings.Cut(path, "/")
	return strings.ToLower(host + "/" + owner)
}
