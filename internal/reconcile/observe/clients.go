package observe

import (
	"context"
	"log/slog"
	"time"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/cache"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// Clients read and write one repository, and what belongs to it. Every phase of a reconciliation uses them.
type Clients struct {
	Remote     repo.Remote
	Objects    repo.Objects
	Files      repo.Files
	Forge      scm.Repository
	Registries Registries
	// Seals decide what on the state branch counts.
	Seals statebranch.Seals
	// ReadOnly: nothing is written. So the credential needs no right to push, and a state branch whose seals cannot be
	// verified is read as it is.
	ReadOnly bool
	// Evidence has what sources reported about health. Nil: only what the forge has is known, which is
	// statuses, checks, and deployments.
	Evidence Evidence
	// AssumedHealth is the health that is assumed for what is in a target, in a simulation. Nil: only what
	// is reported counts.
	AssumedHealth func(promotion.Target) (health.Status, bool)
	// Damage returns an error if the local copy of the repository is damaged, so that what was read says nothing about the
	// repository. Its kind is Temporary: a copy that is opened again is fetched again. Nil: that is not known.
	Damage func() error
	// Branches remembers the branches. Nil: one that was deleted or moved back is not noticed.
	Branches BranchMemory
	// Landings remembers what is proven about landings. Nil: it is read again each time.
	Landings landing.Memory
	By       repo.Signature // of our commits; When is set for each commit
	Now      func() time.Time
	// Pause waits before a restart, with jitter. Nil: no wait.
	Pause func(ctx context.Context, attempt int) error
	Log   *slog.Logger
}

// Users are who may do what in a repository.
type Users struct {
	// Permissions decides which users may give commands in comments. Nil: comments are not read.
	Permissions comments.Permissions
	// Bypasses decides which users may bypass conditions and gates. Nil: none.
	Bypasses comments.Bypasses
	// CommentEvents verifies commands in comments. Nil: no webhook reports comments.
	CommentEvents comments.CommentEvents
	// ParsedComments remembers the commands of comments. Nil: each reconciliation parses all comments.
	ParsedComments *comments.Parsed
	// Refresh invalidates what is cached about the components of a config. Nil: nothing is cached.
	Refresh func(c *config.Config)
}

// Server is what the server file decides about a repository.
type Server struct {
	Limits promotion.Limits
	// Verify returns what signatures must prove about an image, whatever the config requires. Nil: nothing.
	Verify func(image.Repository) []trust.Requirement
}

// Registries queries registries with the credentials of the repository.
type Registries interface {
	// Select returns the version of a component that its policy selects, or why there is none.
	Select(ctx context.Context, request VersionRequest) promotion.Available
	// Resolve answers a lookup of the planner. A version that does not exist is the zero version and no error.
	Resolve(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
	// Describe returns what the image of a version says about itself. The first of the platforms selects
	// the image of an index. A version that does not exist is a NotFound fault.
	Describe(ctx context.Context, fact promotion.Fact, platforms []string) (image.Description, error)
}

// VersionRequest asks for the selected version of a component.
type VersionRequest struct {
	Component  config.Component
	Name       string // its own name, where a pattern matched it
	Repository image.Repository
	Policy     *image.Policy
	Verify     []trust.Requirement // what signatures must prove
	// FirstSeen returns when the repository first recorded a digest as available.
	FirstSeen func(digest string) (time.Time, bool)
	// InUse reports whether a version is in all files that it could be promoted to. Of such a version, the
	// digest of the tag may have been requested some time ago.
	InUse func(image.Version) bool
	// Newer asks for newer versions that the policy does not select.
	Newer bool
}

// Evidence has the reports about health that arrived at receivers, and the health of what landed.
type Evidence interface {
	// Reports returns the latest report of each object that arrived at the receivers, by their names in the
	// server file, that this repository may use. A receiver that does not exist, or that it may not use, has
	// none.
	Reports(ctx context.Context, receivers []string) ([]health.Report, error)
	// Load returns the states of landed commits that Store kept, of those that it has.
	Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error)
	// Store keeps the states of landed commits. Where the forge has commit statuses, they have them too;
	// elsewhere this is the only copy.
	Store(ctx context.Context, states map[health.Key]health.State) error
}

// BranchMemory remembers where branches were at the end of a reconciliation, so that the next one notices
// that a branch was deleted or moved back. It is an aid: without it, as after a mirror was recreated,
// nothing else changes.
type BranchMemory interface {
	// Last returns the remembered commits by branch.
	Last() map[string]string
	// Remember replaces them.
	Remember(heads map[string]string) error
}

// History reads what landed in the targets of a config.
func (c Clients) History(of *config.Config) landing.Reader {
	return landing.Reader{
		Remote: c.Remote, Objects: c.Objects, Repository: c.Forge, By: c.By,
		Past: landing.NewPastFiles(c.Files, of), Pushes: landing.NewPushes(), Memory: c.Landings,
		States: c.Evidence, Assumed: c.AssumedHealth,
		Log: c.Log, Seals: c.Seals.Keys,
	}
}

// Comments reads, applies, and replies to the commands in comments.
func (c Clients) Comments(users Users, history landing.Reader) comments.Reader {
	return comments.Reader{
		Repository: c.Forge, Commits: c.Objects, History: history,
		Permissions: users.Permissions, Bypasses: users.Bypasses, Events: users.CommentEvents, Refresh: users.Refresh,
		Parsed: users.ParsedComments,
		Now:    c.Now, Log: c.Log,
	}
}

// StateBranch reads and writes the state branch.
func (c Clients) StateBranch() statebranch.Branch {
	return statebranch.Branch{
		Remote: c.Remote, Objects: c.Objects, Seals: c.Seals, By: c.By, Now: c.Now, Pause: c.Wait, Locate: c.locate,
	}
}

// Signature is that of our commits, now.
func (c Clients) Signature() repo.Signature {
	by := c.By
	by.When = c.Now()
	return by
}

// Damaged returns an error if the local copy of the repository is damaged.
func (c Clients) Damaged() error {
	if c.Damage == nil {
		return nil
	}
	return c.Damage()
}

// Wait waits before a restart.
func (c Clients) Wait(ctx context.Context, attempt int) error {
	if c.Pause == nil {
		return ctx.Err()
	}
	return c.Pause(ctx, attempt)
}

// Reader reads one repository.
type Reader struct {
	Clients Clients
	Users   Users
	Server  Server
	// Parallel is how many requests that only read are sent to the forge at the same time. Zero:
	// one after the other.
	Parallel int
	// Progress is called while registries are queried, from one goroutine at a time. Nil: not reported.
	Progress func(doing string, done, total int)
}

// Start is what an observation starts from.
type Start struct {
	// Entry has the decisions that may be reused, unless Changed or a difference from what it was
	// decided from touches them. Nil: the observation is about everything.
	Entry   *cache.Entry
	Changed cache.Changed
	// LastAttempt tolerates conflicts of parts, because no other attempt follows.
	LastAttempt bool
	// Explained are the targets that a user asks about. For them, the history and the tags are read that
	// no decision needs, so it comes without an Entry. Nil: none.
	Explained func(promotion.Target) bool
	// Assumed are changes of the state that a user may make: what is observed is as after them. They
	// are not recorded.
	Assumed []state.Change
}
