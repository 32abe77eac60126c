package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// Signals reads what people and machines say about a commit, and says our own.
type Signals interface {
	// Checks lists the latest result of every check and status of the commit, all
	// pages. Without Statuses there are none. What could be read comes along with an
	// error about the rest: our own status is read where checks are not.
	Checks(ctx context.Context, commit string) ([]Check, error)
	// Reviews lists every review of a pull request, oldest first. Without
	// Approvals there are none.
	Reviews(ctx context.Context, number int) ([]Review, error)
	// SetStatus sets the one status of its context. Without Statuses it does
	// nothing. A commit of a fork, on which the forge can set none, is a NotFound
	// fault.
	SetStatus(ctx context.Context, commit string, status Status) error
	// Member says whether a person is in GROUP/NAME. Without Teams nobody is.
	Member(ctx context.Context, team string, person identity.User) (bool, error)
	// MayWrite says whether a person may push to the repository, asked live.
	MayWrite(ctx context.Context, person identity.User) (bool, error)
}

// CheckState is the closed set of results.
type CheckState string

// The results of checks. Neutral and skipped checks have passed.
const (
	CheckPassed  CheckState = "passed"
	CheckPending CheckState = "pending"
	CheckFailed  CheckState = "failed"
)

// Check is the latest result of one check or status.
type Check struct {
	Name  string // context of a status, name of a check run
	State CheckState
	URL   string
	At    time.Time
	Own   bool // set by our identity
	// Description is what a status says in words; empty for check runs.
	Description string
}

// ReviewState is the closed set of what a review says.
type ReviewState string

// The states of reviews.
const (
	Approved         ReviewState = "approved"
	ChangesRequested ReviewState = "changes requested"
	Commented        ReviewState = "commented"
	Dismissed        ReviewState = "dismissed"
)

// Review is what one person said about one commit.
type Review struct {
	Author identity.User
	State  ReviewState
	Commit string // it was given for; empty: the forge does not say
	At     time.Time
	// MayWrite says that the reviewer may push; an approval of somebody who may
	// not counts nowhere.
	MayWrite bool
}

// Status is what promoter says about a commit.
type Status struct {
	Context     string
	State       CheckState
	Description string // cut to the forge's limit by the adapter
	URL         string
}

// Conversation reads what is said on pull requests, and says our own.
type Conversation interface {
	// Comments lists the comments of a pull request, oldest first. Without
	// Comments there are none.
	Comments(ctx context.Context, number int) ([]Comment, error)
	// Recent lists the comments on all pull requests of the repository, open and
	// closed, that were written or edited at since or later, the longest unchanged
	// first, at most limit. Where there are more, the latest changed are left out,
	// and the caller goes on with the Changed of the last one as since, which lists
	// that one again: limit must be more than what is said within one second.
	// Comments on issues, on lines of the changes and of the forge itself are none.
	// A forge that lists no edits, which GitLab is, lists a comment by the time it
	// was written, with Edited as it is now. Without Comments there are none.
	Recent(ctx context.Context, since time.Time, limit int) ([]Comment, error)
	// Say makes the one comment of ours that holds the marker say the text: it is
	// written, edited, or left as it is. Without Comments it does nothing.
	Say(ctx context.Context, number int, marker, text string) error
	// React adds our reaction to a comment that Comments or Recent listed. One
	// that is there already is left; other reactions stay. A comment that is gone
	// is a NotFound fault. Without Comments it does nothing.
	React(ctx context.Context, comment Comment, reaction Reaction) error
}

// MaxComment is how many bytes of a comment are read; the rest is cut.
const MaxComment = 64 << 10

// Comment is one comment.
type Comment struct {
	ID     int64
	Number int // of the pull request that it stands on
	Author identity.User
	// Bot says that a machine wrote it: the account of one, or an app in the name
	// of a person. False where the forge does not tell.
	Bot     bool
	Body    string // at most MaxComment bytes
	Created time.Time
	Changed time.Time // by which Recent lists it: last edited, else created
	// Edited says that it is not what it was when it was created. Where the forge
	// tells an edit and a reaction of somebody not apart, both count.
	Edited bool
}

// Reaction is the closed set of our reactions to a comment.
type Reaction string

// The reactions to a command.
const (
	ReactionDone    Reaction = "done"    // thumbs up
	ReactionRefused Reaction = "refused" // thumbs down
	ReactionUnclear Reaction = "unclear" // confused
)
