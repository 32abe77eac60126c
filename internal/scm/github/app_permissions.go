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
	For      string // what it is for
	Optional string // when it is needed; empty: always
	// OnRequest leaves it out of an App that promoter has made, unless a person asks
	// for it: it lets an App do or see much that few need.
	OnRequest bool
	// OnlyTold marks what only lets GitHub tell of something: no token asks for it.
	OnlyTold bool
}

// Permissions are what a GitHub App needs. Those that are not optional are asked
// for before anything is tried. A test compares docs/github.md with them.
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

// String is how the permission is called on the App's page.
func (p Permission) String() string {
	if p.Access == "write" {
		return p.Title + ": read and write"
	}
	return p.Title + ": read-only"
}

// Permitted are permissions as GitHub tells them: name to read, write or admin.
type Permitted map[string]string

// Grants says whether a permission is among them.
func (p Permitted) Grants(wanted Permission) bool {
	return accessRank(p[wanted.Name]) >= accessRank(wanted.Access)
}

func accessRank(access string) int {
	return slices.Index([]string{"read", "write", "admin"}, access)
}

// lacking lists what is always needed and is not granted.
func (p Permitted) lacking() []Permission {
	return slices.DeleteFunc(Permissions(), func(wanted Permission) bool {
		return wanted.Optional != "" || p.Grants(wanted)
	})
}

// least are those of the table that are granted, and no more of each than is
// needed: a token may do nothing else, whatever else the App is used for.
func (p Permitted) least() Permitted {
	wanted := Permitted{}
	for _, permission := range Permissions() {
		if p.Grants(permission) && !permission.OnlyTold {
			wanted[permission.Name] = permission.Access
		}
	}
	return wanted
}

// listed joins permissions for a sentence.
func listed(permissions []Permission) string {
	var names []string
	for _, p := range permissions {
		names = append(names, p.String())
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
