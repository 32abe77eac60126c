package engine

import (
	"context"
	"iter"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
)

// Remote is the repository where everybody pushes. Commits are named by their 40
// hexadecimal digits.
type Remote interface {
	// Refs lists the branches: one request.
	Refs(ctx context.Context) (Refs, error)
	// Fetch makes the present commits of the branches readable. Branches that are
	// not there are left out. When nothing moved since the last listing it asks
	// for nothing.
	Fetch(ctx context.Context, branches ...string) (map[string]string, error)
	// Deepen makes the branch's history readable back to the time.
	Deepen(ctx context.Context, branch string, since time.Time) error
	// Push moves all branches or none where the server can do that. A branch that
	// is not at Old is a Conflict fault; a push that the server forbids is
	// Unauthorized with its words.
	Push(ctx context.Context, updates ...Update) error
}

// Refs is a listing of branches.
type Refs struct {
	Default  string // empty: the repository is empty
	Branches map[string]string
}

// Update moves a branch. Old empty: it must not be there. New empty: delete it.
type Update struct{ Branch, Old, New string }

// Objects reads and writes commits that Remote made readable.
type Objects interface {
	Commits
	Contents
}

// Commits tells what commits say.
type Commits interface {
	Commit(id string) (Commit, error)
	// History lists the first parents, newest first, down to where it is readable.
	History(from string) iter.Seq2[Commit, error]
	// Trailers reads the trailers of a message that a forge told.
	Trailers(message string) []promotion.Trailer
}

// Contents reads and writes the files of commits.
type Contents interface {
	// Read returns a file of a commit; one that is not there is a NotFound fault.
	Read(commit, path string, limit int64) ([]byte, error)
	// All lists every file of a small commit, such as that of the state branch.
	All(commit string) iter.Seq2[string, []byte]
	// Changed lists the paths in which the trees of two commits differ. An empty
	// commit has an empty tree.
	Changed(a, b string) ([]string, error)
	// Write makes a commit. Nothing is pushed.
	Write(draft Draft) (string, error)
}

// Commit is one commit.
type Commit struct {
	ID        string
	Parents   []string
	Committer Signature
	Message   string
	Trailers  []promotion.Trailer
	Shallow   bool // its parents are not readable: history ends here for now
}

// Signature says who made a commit, and when.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Draft is a commit to write: the parent's tree with the files put in and taken
// out. Without a parent it begins a branch.
type Draft struct {
	Parent   string
	Files    map[string][]byte // nil content: the file goes
	By       Signature
	Message  string // subject and body
	Trailers []promotion.Trailer
}

// Files reads and rewrites the references in the files of a commit.
type Files interface {
	At(ctx context.Context, c *config.Config, commit string, environments []string) (Tree, error)
}

// Tree is what the files of one commit say.
type Tree interface {
	Targets() map[promotion.Target]promotion.Current
	// Rewrite brings the files of a place to the versions, in memory. Refusals
	// mean that nothing of the place may be written.
	Rewrite(ctx context.Context, place promotion.Target, moves []promotion.Move) (Rewritten, error)
}

// Rewritten is a place after the edit.
type Rewritten struct {
	Files    map[string][]byte // those that differ
	Changes  []edit.Change
	Refusals []edit.Refusal
}

// Registries answers with the rights of the repository of the lane.
type Registries interface {
	// Select asks which version of a component is wanted now. What fails is in the
	// offer. firstSeen tells since when a digest is known to have been there.
	Select(ctx context.Context, ask VersionRequest) promotion.Available
	// Resolve answers a question of the core. A version that is not there is the
	// zero version and no error.
	Resolve(ctx context.Context, question promotion.Lookup) (image.Version, error)
}

// VersionRequest is a component of which the wanted version is asked.
type VersionRequest struct {
	Component  config.Component
	Name       string // its own name, where a pattern matched it
	Repository image.Repository
	Policy     *image.Policy
	FirstSeen  func(digest string) (time.Time, bool)
}
