package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// Forge opens repositories by the names that people write.
type Forge interface {
	// Open asks for one repository, OWNER/NAME, and follows a rename. A
	// repository that is not there, or that the credential may not see, is a
	// NotFound fault.
	Open(ctx context.Context, name string) (Repository, error)
}

// Repository is one repository on a forge with what can be asked about it.
type Repository interface {
	// Info is what the forge said when the repository was opened.
	Info() Info
	Features() Features

	PullRequests() PullRequests
	Signals() Signals
	Conversation() Conversation
}

// Info describes a repository.
type Info struct {
	Key           identity.RepositoryKey
	Name          string // OWNER/NAME as it is now, which a rename changes
	URL           string // of the page for people; empty where there is none
	CloneURL      string // without a credential
	DefaultBranch string // empty: the repository is empty, or only Git can tell
	Archived      bool
	Fork          bool // of another repository
	MayPush       bool // the credential may push; true where the forge does not say
	Self          identity.User
}

// Features says what a forge has. The zero value is plain Git.
type Features struct {
	PullRequests bool // else there are never any, and opening one is Invalid
	Closers      bool // the forge names who closed a pull request
	Approvals    bool
	Statuses     bool // statuses can be read and set
	Comments     bool
	Teams        bool // members of teams can be asked
	Compare      bool // Comparer is implemented
	Releases     bool // Releases is implemented
	GuardedMerge bool // a merge can be bound to the head's id
	Rules        bool // Ruled is implemented
}

// Comparer is implemented by forges that can list the commits between two others.
// It belongs to the forge, because components come from repositories of their own.
type Comparer interface {
	// Compare lists the commits that to has and from has not, oldest first, at
	// most limit. Repositories and commits that are gone, or that the credential
	// may not see, are a NotFound fault.
	Compare(ctx context.Context, repository, from, to string, limit int) (Comparison, error)
}

// Comparison is a list of commits that may have been cut.
type Comparison struct {
	Commits []Commit
	Total   int    // of commits; more than are listed when the list was cut
	URL     string // of the page for people; empty where there is none
}

// Releases is implemented by forges that publish releases.
type Releases interface {
	// Releases lists the published releases of a repository, newest first, at
	// most limit. Drafts are none.
	Releases(ctx context.Context, repository string, limit int) ([]Release, error)
}

// Release is one published release.
type Release struct {
	Tag        string
	Prerelease bool
	Published  time.Time // zero: the forge does not say
}
