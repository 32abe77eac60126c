package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// PullRequests reads and changes pull requests, which GitLab calls merge requests.
type PullRequests interface {
	// Open lists all open pull requests, by any author.
	Open(ctx context.Context) ([]PullRequest, error)
	// Closed lists the closed and merged pull requests whose head is the named branch
	// of this repository (not of a fork), newest first, at most limit.
	Closed(ctx context.Context, head string, limit int) ([]PullRequest, error)
	// Create opens a pull request. A second one for the same head and base is a
	// Conflict fault, even on a forge that would allow it. If the pull request is open, but its labels,
	// assignees, or reviewers could not all be set, it is returned along with the error.
	Create(ctx context.Context, draft Draft) (PullRequest, error)
	// Edit changes the fields that are set in edit, and nothing else.
	Edit(ctx context.Context, number int, edit Edit) error
	// Merge merges if the head is still merge.Head; otherwise it returns a Conflict
	// fault. A pull request that is already merged is a success. A merge that the
	// forge forbids (protection, a required check, a merge queue, no allowed method)
	// is Unauthorized with the forge's message. A head that is out of date, or whose
	// mergeability is still being computed, is Temporary; the former wraps ErrBehind.
	Merge(ctx context.Context, number int, merge Merge) (Merged, error)
}

// Deletions is implemented by repositories whose forge reports when the branch of a
// closed pull request was deleted. Without it, a close and a deletion between two
// reconciliations cannot be distinguished.
type Deletions interface {
	// HeadDeleted returns when the head branch of a pull request was first deleted
	// since the pull request was last opened. It is the zero time if the forge shows no
	// deletion: some do not record that of a closed one. Invalid: the forge has it in a
	// form that cannot be read.
	HeadDeleted(ctx context.Context, number int) (time.Time, error)
}

// Merges is implemented by repositories whose forge reports which pull request brought a commit.
type Merges interface {
	// MergedAs returns the merged pull requests, also of forks, whose merge is exactly this commit on their base, whatever
	// is the method of the merge. It is none for a commit that was pushed, or that does not exist. Of a rebase of
	// several commits, the merge is the last one.
	MergedAs(ctx context.Context, commit string) ([]PullRequest, error)
}

// Readiness is implemented by repositories whose forge reports of a single pull request whether its own rules let it be merged.
type Readiness interface {
	// Ready reports whether they do now. False: they do not, or the forge has not computed it yet.
	Ready(ctx context.Context, number int) (bool, error)
}

// Conflicting is implemented by repositories whose forge reports whether an open pull request conflicts with its base.
type Conflicting interface {
	// Conflicts reports whether the forge knows that a merge needs a user. It is false while the forge computes that.
	Conflicts(ctx context.Context, number int) (bool, error)
}

// PullRequest is one pull request as reported by the forge. Title and body are
// informational: no decision depends on them, except that a merge which the forge refused
// is not tried again before a time that our part of the body has.
type PullRequest struct {
	Number int
	URL    string
	Title  string
	Body   string // empty if the head is in a fork: that text is untrusted
	Author identity.User
	Head   Head
	Base   string // branch
	Draft  bool
	// Unresolved is set if open conversations keep it from being merged, and the listing reports that.
	Unresolved bool
	Labels     []string
	Opened     time.Time
	State      PullRequestState
	Closer     identity.User // set when closed, if the forge has Closers and reports it for this one
	// Unread is why Closer is unknown, if the forge has it in a form that cannot be read.
	Unread   error
	ClosedAt time.Time // set when closed or merged
	Merged   Merged    // set when merged
}

// Head is the source of the commits of a pull request.
type Head struct {
	Branch string
	Commit string // hex
	Own    bool   // the branch is in the base repository, not in a fork
	// Message is the message of the head commit, which outlives its branch. Only
	// Closed sets it.
	Message string
}

// PullRequestState is the state of a pull request.
type PullRequestState string

// States of a pull request.
const (
	StateOpen   PullRequestState = "open"
	StateClosed PullRequestState = "closed"
	StateMerged PullRequestState = "merged"
)

// Draft is a pull request to open. The head branch is in the repository.
type Draft struct {
	Head, Base  string
	Title, Body string // truncated to the forge's limits by the adapter
	AsDraft     bool
	Labels      []string
	Reviewers   []string // NAME or team:GROUP/NAME; those that the forge rejects are omitted
	Assignees   []string
}

// Edit holds the fields to change; nil leaves a field unchanged.
type Edit struct {
	Title, Body *string
	Base        *string
	Closed      *bool    // true closes, false reopens
	AddLabels   []string // labels added by users are never removed
}

// Merge specifies exactly what to merge.
type Merge struct {
	Head    string // commit in hex; any other head is a Conflict
	Base    string // branch, whose rules determine the merge method; empty: try any method
	Title   string // of the merge commit, if the forge creates one
	Message string // its body, with the trailers
}

// Merged is the result of a merge.
type Merged struct {
	Commit string // on the base branch, hex; empty: not reported by the forge
	At     time.Time
}

// Commit is one commit as reported by a forge.
type Commit struct {
	ID        string // hex
	Message   string
	Author    string // display name
	Committed time.Time
	// PullRequest is the one that the message names, as the forge writes it on a merge.
	PullRequest PullLink
}

// PullLink is a pull request that a commit message names. It need not exist.
type PullLink struct {
	Number int // 0: none
	URL    string
}
