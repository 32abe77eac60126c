package engine

import (
	"context"
	"iter"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/verb"
)

// Remote is the repository on the server. Commits are named by 40 hexadecimal
// digits.
type Remote interface {
	// Refs lists the branches with one request.
	Refs(ctx context.Context) (Refs, error)
	// Fetch makes the current commits of the branches readable and returns them.
	// Branches that do not exist are left out. It sends no request when nothing has
	// moved since the last listing.
	Fetch(ctx context.Context, branches ...string) (map[string]string, error)
	// Deepen makes the history of the branch readable back to the time.
	Deepen(ctx context.Context, branch string, since time.Time) error
	// Push moves all branches or none, where the server supports that. A branch that
	// is not at Old is a Conflict fault. A push that the server forbids is an
	// Unauthorized fault with the server's message.
	Push(ctx context.Context, updates ...Update) error
}

// Refs is a listing of branches.
type Refs struct {
	Default  string // empty: the repository is empty
	Branches map[string]string
}

// Update moves a branch. An empty Old requires that it does not exist; an empty New
// deletes it.
type Update struct{ Branch, Old, New string }

// Objects reads and writes the commits that Remote made readable.
type Objects interface {
	Commits
	Contents
}

// Commits reads commits.
type Commits interface {
	Commit(id string) (Commit, error)
	// History yields the first parents, newest first, as far as they are readable.
	History(from string) iter.Seq2[Commit, error]
	// Trailers parses the trailers of a message that a forge returned.
	Trailers(message string) []promotion.Trailer
}

// Contents reads and writes the files of commits.
type Contents interface {
	// Read returns a file of a commit. A missing file is a NotFound fault.
	Read(commit, path string, limit int64) ([]byte, error)
	// All yields every file of a small commit, such as one of the state branch.
	All(commit string) iter.Seq2[string, []byte]
	// Changed lists the paths that differ between the trees of two commits. An empty
	// commit has an empty tree.
	Changed(a, b string) ([]string, error)
	// Write creates a commit and pushes nothing.
	Write(draft Draft) (string, error)
	// Unpushed returns how many bytes of written objects are in memory, because they were
	// not pushed yet.
	Unpushed() int64
}

// Commit is one commit.
type Commit struct {
	ID        string
	Tree      string // its ID
	Parents   []string
	Committer Signature
	Message   string
	Trailers  []promotion.Trailer
	Shallow   bool // its parents are not readable yet
}

// Signature is the author and committer of a commit.
type Signature struct {
	Name, Email string
	When        time.Time
}

// DefaultSignature is that of our commits, unless another one is configured or suggested by
// the forge. Then it still counts as ours.
func DefaultSignature() Signature {
	return Signature{Name: "promoter", Email: "promoter@noreply.invalid"}
}

// committed reports whether the commit names this signature, or the default one, as its
// committer. That protects the work of users from accidents and proves nothing: a head is
// rewritten and compared before it is merged.
func (s Signature) committed(commit Commit) bool {
	is := func(of Signature) bool { return commit.Committer.Email == of.Email && commit.Committer.Name == of.Name }
	return is(s) || is(DefaultSignature())
}

// Committed reports whether a commit names our identity as its committer, which proves
// nothing.
func (r *Reconciler) Committed(commit Commit) bool { return r.By.committed(commit) }

// Draft is a commit to write: the tree of the parent with some files replaced or
// removed. Without a parent it starts a branch.
type Draft struct {
	Parent   string
	Files    map[string][]byte // nil content removes the file
	By       Signature
	Message  string // subject and body
	Trailers []promotion.Trailer
}

// Files reads and rewrites the references in the files of a commit.
type Files interface {
	At(ctx context.Context, c *config.Config, commit string, environments []string) (Tree, error)
}

// Tree is the references in the files of one commit.
type Tree interface {
	Targets() map[promotion.Target]promotion.Current
	// Rewrite updates the files of a target in memory. With refusals, nothing of the
	// target may be written.
	Rewrite(ctx context.Context, target promotion.Target, moves []promotion.Move) (Rewritten, error)
}

// Rewritten is the result of Tree.Rewrite.
type Rewritten struct {
	Files    map[string][]byte // only those that differ
	Changes  []edit.Change
	Refusals []edit.Refusal
}

// Registries queries registries with the credentials of the repository.
type Registries interface {
	// Select returns the version of a component that its policy selects, or why there
	// is none.
	Select(ctx context.Context, request VersionRequest) promotion.Available
	// Resolve answers a lookup of the planner. A version that does not exist is the
	// zero version and no error.
	Resolve(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
}

// VersionRequest asks for the selected version of a component.
type VersionRequest struct {
	Component  config.Component
	Name       string // its own name, where a pattern matched it
	Repository image.Repository
	Policy     *image.Policy
	// FirstSeen returns when the repository first recorded a digest as available.
	FirstSeen func(digest string) (time.Time, bool)
}

// Permissions decides which users may give commands in comments.
type Permissions interface {
	// Allowed asks, live, whether a user may give a command about all of the targets;
	// without targets, whether the user may give it about anything in the repository.
	// An error is neither yes nor no.
	Allowed(ctx context.Context, user identity.User, verb verb.Verb, targets ...promotion.Deployment) (Permission, error)
	// Named returns the users and teams that rules allow to give a command about all of
	// the targets, sorted; empty if only users whom several rules name may. False: no rule
	// covers it, so that all users with write access may.
	Named(verb verb.Verb, targets ...promotion.Deployment) ([]string, bool)
}

// CommentEvents knows what authenticated webhooks reported about new comments.
type CommentEvents interface {
	// Digests returns the digest of the command (command.Digest) of those of the comments
	// that were reported, as it was when they were created.
	Digests(ctx context.Context, comments []int64) (map[int64]string, error)
}

// Permission is the answer of Permissions.
type Permission struct {
	Allowed bool
	Reason  string // why not, for that user
}

// Tracer is called when a part of a reconciliation begins. It returns the context for
// the part, and a function that is called with the effects of the part when it ends.
// The parts are "attempt", in it "observe" and "plan", and the step of each
// proposal that changes something.
type Tracer func(ctx context.Context, part string) (context.Context, func(effects []Effect, err error))

func (r *Reconciler) trace(ctx context.Context, part string) (context.Context, func([]Effect, error)) {
	if r.Trace == nil {
		return ctx, func([]Effect, error) {}
	}
	return r.Trace(ctx, part)
}
