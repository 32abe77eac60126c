package github

import (
	"cmp"
	"slices"
	"strings"
)

// Permission is one permission of a GitHub App.
type Permission struct {
	Name     string // in the API
	Title    string // on the App's page
	Access   string // read or write, which includes read
	For      string // purpose
	Optional string // condition under which it is needed; empty: always
	// OnRequest omits the permission from Apps that promoter creates, unless a user
	// requests it: it grants access that few need.
	OnRequest bool
	// OnlyTold marks a permission that is only needed to receive events: no token
	// requests it.
	OnlyTold bool
}

// Permissions returns the permissions that a GitHub App needs. Those that are not
// optional are checked before anything else. A test compares docs/github.md with this
// list.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func Permissions() []Permission {
	return []Permission{
		{Name: "metadata", Title: "Metadata", Access: "read", For: "finding the repository; what a reviewer may do; rules of branches. GitHub always adds it"},
		{Name: "contents", Title: "Contents", Access: "write", For: "fetching, pushing branches, merging; commits between two versions; releases"},
		{Name: "pull_requests", Title: "Pull requests", Access: "write", For: "listing, opening, editing; labels, reviewers, assignees, comments; reviews"},
		{Name: "statuses", Title: "Commit statuses", Access: "write", For: "the status `promoter`, and statuses of others that a gate waits for"},
		{Name: "checks", Title: "Checks", Access: "read", For: "check runs that a gate waits for, GitHub Actions' among them"},
		{Name: "issues", Title: "Issues", Access: "write", For: "making labels; hearing of comments", Optional: "a config names labels that the repository does not have yet, or people steer by comments"},
		{Name: "members", Title: "Members (organization)", Access: "read", For: "who is in a team", Optional: "a rule names a team"},
		{Name: "packages", Title: "Packages", Access: "read", For: "hearing of images that were pushed to GHCR", Optional: "they are followed and have no webhook of their own", OnlyTold: true},
		{Name: "administration", Title: "Administration", Access: "read", For: "all that the classic protection of a branch asks", Optional: "branches have classic protection, and what it asks is to be known before a merge is tried; rulesets need nothing", OnRequest: true},
		{Name: "workflows", Title: "Workflows", Access: "write", For: "pushing changes to workflows", Optional: "environments have files below `.github/workflows`, which are left out by default", OnRequest: true},
	}
}

// String returns the name of the permission on the App's page.
func (p Permission) String() string {
	if p.Access == "write" {
		return p.Title + ": read and write"
	}
	return p.Title + ": read-only"
}

// Permitted is a set of permissions in GitHub's form: name to read, write or admin.
type Permitted map[string]string

// Grants reports whether the set includes a permission.
func (p Permitted) Grants(wanted Permission) bool {
	return accessRank(p[wanted.Name]) >= accessRank(wanted.Access)
}

func accessRank(access string) int {
	return slices.Index([]string{"read", "write", "admin"}, access)
}

// lacking lists required permissions that are not granted.
func (p Permitted) lacking() []Permission {
	return slices.DeleteFunc(Permissions(), func(wanted Permission) bool {
		return wanted.Optional != "" || p.Grants(wanted)
	})
}

// least returns the granted permissions of the table, each with no more access than
// needed: a token has no other permissions, whatever else the App is used for.
func (p Permitted) least() Permitted {
	wanted := Permitted{}
	for _, permission := range Permissions() {
		if p.Grants(permission) && !permission.OnlyTold {
			wanted[permission.Name] = permission.Access
		}
	}
	return wanted
}

// listed formats permissions for a sentence.
func listed(permissions []Permission) string {
	var names []string
	for _, p := range permissions {
		names = append(names, p.String())
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
