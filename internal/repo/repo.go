// Package repo is one repository as reconciliations, and the packages that they consist of, read
// and write it: branches, commits, and files behind small interfaces, its config file, and
// the parts of it that failed while the rest goes on. The wiring implements the interfaces,
// and the model test replaces them with fakes that fail.
package repo

import (
	"context"
	"iter"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/promotion"
)

// Remote is the repository on the server. Commits are named by 40 hexadecimal
// digits.
type Remote interface {
	// Refs lists the branches with one request.
	Refs(ctx context.Context) (Refs, error)
	// Fetch makes the current commits of the branches readable and returns them.
	// Branches that do not exist are left out. After Refs, these are the listed commits,
	// and it sends no request when they are here.
	Fetch(ctx context.Context, branches ...string) (map[string]string, error)
	// Deepen makes the history of the branch readable back to the time.
	Deepen(ctx context.Context, branch string, since time.Time) error
	// Sign returns a written commit as it is to be pushed: with a signature, if commits to
	// the repository get one. Another signature of the same commit has another ID.
	Sign(ctx context.Context, commit string) (string, error)
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

// FirstParents yields the first-parent history of a head, at most so many commits.
func FirstParents(commits Commits, head string, most int) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		for commit, err := range commits.History(head) {
			if most--; !yield(commit, err) || most == 0 {
				return
			}
		}
	}
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
	Author    Signature
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

// Committed reports whether the commit names this signature, or the default one, as its
// committer. That protects the work of users from accidents and proves nothing: a head is
// rewritten and compared before it is merged.
func (s Signature) Committed(commit Commit) bool {
	return s.is(commit.Committer) || s.Created(commit)
}

// Created reports whether GitHub created the commit for this signature: as a commit that it
// signs, or as a merge. GitHub itself is its committer then, as in
// GitHub <noreply@github.com>; a GitHub Enterprise server has another host.
func (s Signature) Created(commit Commit) bool {
	by := commit.Committer
	return strings.HasPrefix(by.Name, "GitHub") && strings.HasPrefix(by.Email, "noreply@") && s.is(commit.Author)
}

// Authored is the same for the author. A forge that merges for us may be the committer.
func (s Signature) Authored(commit Commit) bool { return s.is(commit.Author) }

func (s Signature) is(by Signature) bool {
	same := func(of Signature) bool { return by.Email == of.Email && by.Name == of.Name }
	return same(s) || same(DefaultSignature())
}

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
	// Reread reads the files of a target of a tree again from its commit, without anything that was
	// remembered about them, and returns what they say.
	Reread(ctx context.Context, tree Tree, target promotion.Target) (promotion.Current, error)
}

// Tree is the references in the files of one commit.
type Tree interface {
	Targets() map[promotion.Target]promotion.Current
	// Others are references that no component follows where they are. They are only shown.
	Others() []edit.Reference
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

// IgnoreNotFound returns an error, unless it is about something that does not exist.
func IgnoreNotFound(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}
