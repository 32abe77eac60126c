package rules

import (
	"net/url"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/glob"
	"promoter/internal/outbound"
	"promoter/internal/scm"
)

// Name is how the server file refers to a repository: HOST/OWNER/NAME, and
// with plain Git the host and the path of its URL. It is the current name, and is never
// stored.
type Name struct {
	Text string
	Fold bool // the forge compares names without regard to case
}

// NameOf returns the name of a repository that is open.
func NameOf(info scm.Info) Name {
	if info.URL != "" {
		return Name{Text: strings.ToLower(outbound.Host(info.URL)) + "/" + info.Name, Fold: true}
	}
	parsed, err := url.Parse(info.CloneURL)
	if err != nil {
		return Name{}
	}
	return Name{Text: strings.ToLower(parsed.Host) + "/" + strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")}
}

// Listed returns the name of a repository that the server file lists.
func Listed(forge serverconfig.Forge, r serverconfig.Repository) Name {
	if forge.Kind == serverconfig.ForgeGit {
		return NameOf(scm.Info{CloneURL: forge.URL + "/" + r.Name})
	}
	return NameOf(scm.Info{URL: forge.URL, Name: r.Name})
}

// matches reports whether a pattern of the server file matches the name.
func (n Name) matches(pattern string) bool {
	if n.Fold {
		return n.Text != "" && glob.Match(strings.ToLower(pattern), strings.ToLower(n.Text))
	}
	return n.Text != "" && glob.Match(pattern, n.Text)
}

// MatchesAny reports whether one of the patterns of the server file matches the name.
func (n Name) MatchesAny(globs []string) bool { return slices.ContainsFunc(globs, n.matches) }

// isIn reports whether rules with the scope are about the repository.
func (n Name) isIn(scope serverconfig.Scope) bool {
	return scope.Repositories == nil || n.MatchesAny(scope.Repositories)
}

// Owner returns the name up to its last slash.
func (n Name) Owner() string {
	owner := n.Text[:max(0, strings.LastIndex(n.Text, "/"))]
	if n.Fold {
		return strings.ToLower(owner)
	}
	return owner
}

// Tenant returns HOST/OWNER, where OWNER is the first part of the path: users create
// nested groups as they like.
func (n Name) Tenant() string {
	host, path, _ := strings.Cut(n.Text, "/")
	owner, _, _ := strings.Cut(path, "/")
	return strings.ToLower(host + "/" + owner)
}
