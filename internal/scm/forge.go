package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// Forge opens repositories by the names that users configure.
type Forge interface {
	// Open fetches one repository, OWNER/NAME, and follows a rename. A repository
	// that does not exist, or that the credential cannot see, is a NotFound fault.
	Open(ctx context.Context, name string) (Repository, error)
}

// Repository is one repository on a forge.
type Repository interface {
	// Info returns what the forge reported when the repository was opened.
	Info() Info
	Features() Features

	PullRequests() PullRequests
	Signals() Signals
	Conversation() Conversation
}

// Info describes a repository.
type Info struct {
	Key           identity.RepositoryKey
	Name          string // OWNER/NAME at present; a rename changes it
	URL           string // of the web page; empty if there is none
	CloneURL      string // without a credential
	DefaultBranch string // empty: the repository is empty, or only Git knows
	Archived      bool
	Fork          bool // of another repository
	MayPush       bool // the credential may push; true if the forge does not report it
	Self          identity.User
	// Committer is the identity that the forge links to Self in commits. It is zero if
	// unknown, or if the account is a user's.
	Committer Committer
}

// Committer is the author and committer of commits.
type Committer struct{ Name, Email string }

// Features lists what a forge supports. The zero value is plain Git.
type Features struct {
	PullRequests bool // if false, there are never any, and opening one is Invalid
	Closers      bool // the forge reports who closed a pull request
	Approvals    bool
	Statuses     bool // statuses can be read and set
	Comments     bool
	Teams        bool // team membership can be queried
	Compare      bool // Comparer is implemented
	Releases     bool // Releases is implemented
	GuardedMerge bool // a merge can be restricted to a head commit
	Rules        bool // Ruled is implemented
	Deployments  bool // Deployments is implemented

	PullSign string // what the forge writes before the number of a pull request, as in #27
}

// Inspected is implemented by repositories whose settings limit what promoter does there.
type Inspected interface {
	// Inspect returns these limits. The URL is that of the service, empty if it has none.
	Inspect(ctx context.Context, url string) ([]Notice, error)
}

// Notice is one limit, and how to remove it.
type Notice struct{ Message, Fix string }

// Comparer is implemented by forges that can list the commits between two revisions.
// It belongs to the forge because components have their own repositories.
type Comparer interface {
	// Compare lists the commits reachable from to but not from from, oldest first, at
	// most limit. A repository or commit that does not exist, or that the credential
	// cannot see, is a NotFound fault.
	Compare(ctx context.Context, repository, from, to string, limit int) (Comparison, error)
}

// Comparison is a list of commits, which may be truncated.
type Comparison struct {
	Commits []Commit
	Total   int    // number of commits; exceeds the length of a truncated list
	URL     string // of the web page; empty if there is none
}

// Releases is implemented by forges that publish releases.
type Releases interface {
	// Releases lists the published releases of a repository, newest first, at most
	// limit. Drafts are not included.
	Releases(ctx context.Context, repository string, limit int) ([]Release, error)
	// Release returns the published release of a tag, with its notes. One that does not
	// exist is a NotFound fault.
	Release(ctx context.Context, repository, tag string) (Release, error)
}

// Release is one published release.
type Release struct {
	Tag        string
	Prerelease bool
	Published  time.Time // zero: not reported by the forge

	// What only Release returns.
	Notes string // Markdown of users, at most MaxNotes bytes
	URL   string // of the web page
}

// MaxNotes is the number of bytes of release notes that are read; the rest is truncated.
const MaxNotes = 64 << 10
