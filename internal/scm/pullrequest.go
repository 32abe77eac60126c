package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// PullRequests reads and steers pull requests, which GitLab calls merge requests.
type PullRequests interface {
	// Open lists all that are open, of everybody: one reading per pass.
	Open(ctx context.Context) ([]PullRequest, error)
	// Closed lists the closed and merged ones whose head is the named branch of
	// this very repository, newest first, at most limit.
	Closed(ctx context.Context, head string, limit int) ([]PullRequest, error)
	// Create opens one. A second one for the same head and base is a Conflict
	// fault, whatever the forge itself would do.
	Create(ctx context.Context, draft Draft) (PullRequest, error)
	// Edit changes what is set in the edit, and nothing else.
	Edit(ctx context.Context, number int, edit Edit) error
	// Merge merges when the head still is merge.Head: else a Conflict fault.
	// Already merged is success. What the forge forbids (protection, a required
	// check, a merge queue, no allowed method) is Unauthorized with its words;
	// what it only finds out of date or is still computing is Temporary, and wraps
	// ErrBehind in the former case.
	Merge(ctx context.Context, number int, merge Merge) (Merged, error)
}

// Deletions is implemented by repositories whose forge tells when the branch of a
// closed pull request was deleted. Without it a close and a deletion that happened
// between two looks are one.
type Deletions interface {
	// HeadDeleted returns when the head branch of a pull request was first deleted
	// since that was opened last; the zero time where nothing tells.
	HeadDeleted(ctx context.Context, number int) (time.Time, error)
}

// PullRequest is one pull request as the forge tells it. Title and body are for
// people: no decision reads them.
type PullRequest struct {
	Number   int
	URL      string
	Title    string
	Body     string // empty where the head lies elsewhere: that text is a stranger's
	Author   identity.User
	Head     Head
	Base     string // branch
	Draft    bool
	Labels   []string
	Opened   time.Time
	State    PullRequestState
	Closer   identity.User // set when closed, the forge has Closers, and tells it of this one
	ClosedAt time.Time     // set when closed or merged
	Merged   Merged        // set when merged
}

// Head is where the commits of a pull request come from.
type Head struct {
	Branch string
	Commit string // hex
	Own    bool   // the branch lies in the base repository itself, not in a fork
	// Message is that of the head commit, which outlives its branch. Only Closed
	// sets it.
	Message string
}

// PullRequestState is the closed set of states.
type PullRequestState string

// The states of a pull request.
const (
	StateOpen   PullRequestState = "open"
	StateClosed PullRequestState = "closed"
	StateMerged PullRequestState = "merged"
)

// Draft is a pull request to open. The head branch lies in the repository.
type Draft struct {
	Head, Base  string
	Title, Body string // cut to the forge's limits by the adapter
	AsDraft     bool
	Labels      []string
	Reviewers   []string // NAME or team:GROUP/NAME; one that the forge refuses is left out
	Assignees   []string
}

// Edit holds what to change; nil leaves it.
type Edit struct {
	Title, Body *string
	Base        *string
	Closed      *bool    // true closes, false opens again
	AddLabels   []string // labels of people are never taken away
}

// Merge says what exactly is to be merged.
type Merge struct {
	Head    string // commit in hex; any other head is a Conflict
	Base    string // branch, whose rules choose the way of merging; empty: any way is tried
	Title   string // of the commit that lands, where the forge makes one
	Message string // its body, with the trailers
}

// Merged says what came of a merge.
type Merged struct {
	Commit string // that stands on the base branch now, hex; empty: the forge does not say
	At     time.Time
}

// Commit is one commit as a forge tells it.
type Commit struct {
	ID        string // hex
	Message   string
	Author    string // a name for people
	Committed time.Time
}
