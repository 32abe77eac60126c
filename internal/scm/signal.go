package scm

import (
	"context"
	"errors"
	"time"

	"promoter/internal/health"
	"promoter/internal/identity"
)

// Signals reads checks and reviews of a commit, and sets promoter's own status.
type Signals interface {
	// Checks lists the latest result of every check and status of the commit, from
	// all pages. Without Statuses the list is empty. On a partial failure it returns
	// what it could read along with the error: our own status can be read even if
	// checks cannot.
	Checks(ctx context.Context, commit string) ([]Check, error)
	// Reviews lists every review of a pull request, oldest first. Without Approvals
	// the list is empty.
	Reviews(ctx context.Context, number int) ([]Review, error)
	// SetStatus sets the status of a context. Without Statuses it does nothing. While the
	// forge has nothing that it can be added to, it returns ErrStatusNotStored. A commit of
	// a fork, for which the forge cannot set a status, is a NotFound fault.
	SetStatus(ctx context.Context, commit string, status Status) error
	// Member reports whether a user is in GROUP/NAME. Without Teams it returns false.
	Member(ctx context.Context, team string, person identity.User) (bool, error)
	// MayWrite reports whether a user may push to the repository. The result is not
	// cached.
	MayWrite(ctx context.Context, person identity.User) (bool, error)
}

// Accounts is implemented by repositories whose forge shows accounts.
type Accounts interface {
	// Account returns the account that has a login now, with its ID. It is zero if the forge shows
	// none to promoter's account.
	Account(ctx context.Context, login string) (identity.User, error)
}

// Deployments is implemented by repositories whose forge records deployments.
type Deployments interface {
	// Deployed returns the newest deployment to an environment of the forge with its latest
	// status; false if there is none.
	Deployed(ctx context.Context, environment string) (Deployment, bool, error)
}

// Deployment is one deployment of a commit.
type Deployment struct {
	Commit      string
	Status      health.Status
	Description string
	URL         string
	At          time.Time // of the status
}

// LimitsPermissions is implemented by repositories whose forge may not show to the
// credential which users may push. Then MayWrite is Unauthorized.
type LimitsPermissions interface {
	// PermissionLimit returns the zero value if MayWrite works for all users.
	PermissionLimit(ctx context.Context) (PermissionLimit, error)
}

// PermissionLimit is why MayWrite fails.
type PermissionLimit struct {
	All    bool   // for every user who may push, else for some
	Reason string // what the forge does not show; empty: MayWrite works
	Fix    string // how to fix it
}

// TeamReader is implemented by repositories that know that their credential cannot read
// teams.
type TeamReader interface {
	// TeamsHidden returns why reviews cannot be requested from teams, and their members not
	// be read. It is empty if they can, or if unknown.
	TeamsHidden() string
}

// Summaries is implemented by repositories whose forge has checks with a long text.
type Summaries interface {
	// SetSummary creates a check with the text on a commit, unless it has it already.
	// Unauthorized: the credential may not.
	SetSummary(ctx context.Context, commit string, summary Summary) error
}

// RenderedCheck is the name of the check with rendered manifests. It never counts as a check.
const RenderedCheck = "promoter/rendered"

// Summary is a check that only shows something.
type Summary struct {
	Name, Title string
	Text        string // Markdown; truncated to the forge's limit by the adapter
}

// ErrProtectedHead is wrapped by the Unauthorized fault of a status that the forge refuses
// because the head is a protected branch.
var ErrProtectedHead = errors.New("the credential may not change pipelines of its protected branch")

// ErrStatusNotStored is wrapped by the NotFound fault of a status that the forge has no
// place for yet, such as a pipeline. It may get one later.
var ErrStatusNotStored = errors.New("there is no pipeline for the status")

// CheckState is the result of a check.
type CheckState string

// Results of checks. Neutral and skipped checks have passed, and canceled ones have failed: see Check.NoResult.
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
	Own   bool // set by our own account
	// NoResult is set if the run ended without a result: it was canceled or skipped, say. State is what
	// the forge counts it as.
	NoResult bool
	// Description is the text of a status; empty for check runs.
	Description string
	// Sources are the results by the app that reported them; the empty app is an unknown
	// one. Nil: the forge does not tell.
	Sources map[string]CheckState
}

// Status returns a check as a status.
func (c Check) Status() Status {
	return Status{Context: c.Name, State: c.State, Description: c.Description, URL: c.URL}
}

// ReviewState is the state of a review.
type ReviewState string

// States of a review.
const (
	Approved         ReviewState = "approved"
	ChangesRequested ReviewState = "changes requested"
	Commented        ReviewState = "commented"
	Dismissed        ReviewState = "dismissed"
)

// Review is one user's review of one commit.
type Review struct {
	Author identity.User
	State  ReviewState
	Commit string // that was reviewed; empty: not reported by the forge
	At     time.Time
	// MayWrite reports whether the reviewer may push. The approval of a user who may
	// not push never counts.
	MayWrite bool
	// Unofficial is set if the forge reports that the review does not count for the rules of the branch.
	Unofficial bool
}

// Status is the status that promoter sets on a commit.
type Status struct {
	Context     string
	State       CheckState
	Description string // truncated to the forge's limit by the adapter
	URL         string
}

// Conversation reads and writes comments on pull requests.
type Conversation interface {
	// Comments lists the comments of a pull request, oldest first. Without Comments
	// the list is empty.
	Comments(ctx context.Context, number int) ([]Comment, error)
	// Recent lists the comments on all pull requests of the repository, open and
	// closed, that were created or edited at or after since, least recently changed
	// first, at most limit. If there are more, the most recently changed are omitted;
	// the caller continues with the Changed of the last one as since, which lists
	// that one again. Therefore limit must exceed the number of comments within one
	// second. Comments on issues, review comments on lines, and system comments of
	// the forge are not included. A forge that does not list edits, such as GitLab,
	// lists a comment by its creation time, with Edited as it is now. Without
	// Comments the list is empty.
	Recent(ctx context.Context, since time.Time, limit int) ([]Comment, error)
	// Say creates or updates our comment that contains the marker, or leaves it if it
	// already has this text. Without Comments it does nothing.
	Say(ctx context.Context, number int, marker, text string) error
	// React adds our reaction to a comment that Comments or Recent listed. An
	// existing reaction is left, and so are other reactions. A comment that no longer
	// exists is a NotFound fault. Without Comments it does nothing.
	React(ctx context.Context, comment Comment, reaction Reaction) error
	// Reacted reports whether a comment that Comments or Recent listed has one of our
	// reactions. A comment that no longer exists is a NotFound fault. Without Comments
	// none has.
	Reacted(ctx context.Context, comment Comment) (bool, error)
}

// Clock is implemented by repositories whose forge reports its time.
type Clock interface {
	// Time returns the time by the clock of the forge, by which it dates comments. It is
	// exact to a second, and the time of this machine before the first request.
	Time() time.Time
}

// MaxComment is the number of bytes of a comment that are read; the rest is
// truncated.
const MaxComment = 64 << 10

// Comment is one comment.
type Comment struct {
	ID     int64
	Number int // of its pull request
	Author identity.User
	// Bot reports whether a machine wrote the comment: a bot account, or an app on
	// behalf of a user. It is false if the forge does not report it.
	Bot     bool
	Body    string // at most MaxComment bytes
	Created time.Time
	Changed time.Time // sort key of Recent: last edited, else created
	// Edited reports whether the comment changed since it was created. If the forge
	// does not distinguish an edit from a user's reaction, both count.
	Edited bool
}

// Reaction is one of our reactions to a comment.
type Reaction string

// Reactions to a command.
const (
	ReactionDone    Reaction = "done"    // thumbs up
	ReactionRefused Reaction = "refused" // thumbs down
	ReactionUnclear Reaction = "unclear" // confused
)

// Reactions returns all of them.
func Reactions() []Reaction { return []Reaction{ReactionDone, ReactionRefused, ReactionUnclear} }
