// Package scmtest is the suite that every forge must pass. It states each
// sentence of the seams in internal/scm as a test; where Features says that a
// forge has no such thing, it asserts the documented result instead.
//
// A forge brings a Bench: itself, one repository, and hands to act as other
// people and as Git. Run asks for a fresh bench per test.
package scmtest

import (
	"testing"
	"time"

	"promoter/internal/scm"
)

// Names that every bench has prepared. The repository has the default branch
// main with one commit, which holds the file a.yaml.
const (
	Main  = "main"
	Ann   = "ann"      // may push to the repository
	Bob   = "bob"      // may push to the repository
	Eve   = "eve"      // may read only, and has a fork
	Robot = "robot-ci" // a bot that may push
	Team  = "acme/sre" // ann is in it, bob is not
)

// Bench is one repository on a forge and everything around it. A nil hook is
// something that this counterpart cannot do; the cases that need it are left out
// and say so.
type Bench struct {
	Forge  scm.Forge
	Name   string // of the repository, as Open wants it
	Git    Git
	People People
	World  World
	// Label is how the forge spells a label; nil: as it is.
	Label func(name string) string
	// Known names cases of the suite that this counterpart is known to fail, with
	// the reason. They are left out and say it.
	Known map[string]string
}

// Git is the repository from the side of Git.
type Git struct {
	// Commit adds a commit with one changed file to a branch and returns its id.
	// A branch that is not there begins at main.
	Commit func(t *testing.T, commit Commit) string
	// Log lists the commits of a branch, newest first; none when it is not there.
	Log func(t *testing.T, branch string) []string
	// Message returns the message of a commit.
	Message func(t *testing.T, commit string) string
	Delete  func(t *testing.T, who, branch string)
}

// Commit is a commit that somebody pushes. Without By it is our own account.
type Commit struct {
	By, Branch, Path, Content, Message string
}

// People acts as other people do with their browsers.
type People struct {
	Open  func(t *testing.T, who, head, base, title string) int
	Fork  func(t *testing.T, who, head, base string) int // from the fork of who, a branch with that name
	Close func(t *testing.T, who string, number int)
	// Merge merges and returns the commit that stands on the base then. Method is
	// merge, squash, rebase, fast-forward (by a push) or queue.
	Merge func(t *testing.T, who string, number int, method string) string
	// Reopen opens a closed one again, with its head branch where that is gone.
	Reopen   func(t *testing.T, who string, number int)
	Retarget func(t *testing.T, who string, number int, base string) // to another branch
	Draft    func(t *testing.T, who string, number int, draft bool)  // or ready again
	Retitle  func(t *testing.T, who string, number int, title string)
	Label    func(t *testing.T, who string, number int, label string)
	Review   func(t *testing.T, who string, number int, state scm.ReviewState)
	Dismiss  func(t *testing.T, who string, number int) // the reviews of who
	Comment  func(t *testing.T, who string, number int, body string)
	// Reword edits a comment, and Unsay deletes one.
	Reword func(t *testing.T, comment scm.Comment, body string)
	Unsay  func(t *testing.T, comment scm.Comment)
	// Ask comments on an issue, which is no pull request.
	Ask func(t *testing.T, who, body string)
	// Reactions lists those to a comment in the order they were given, each as
	// the forge's name of it, a space, and the login.
	Reactions func(t *testing.T, comment scm.Comment) []string
	Status    func(t *testing.T, who, commit, context string, state scm.CheckState)
	// Check adds a check run with a conclusion of the forge, or in_progress.
	Check   func(t *testing.T, who, commit, name, conclusion string)
	Release func(t *testing.T, release Release)
}

// Release is a release that somebody publishes.
type Release struct {
	Tag               string
	Draft, Prerelease bool
	Published         time.Time
}

// World changes settings and lets things go wrong.
type World struct {
	Rename   func(t *testing.T) string // returns the whole new name
	Archive  func(t *testing.T)
	Remove   func(t *testing.T)
	Permit   func(t *testing.T, who, permission string) // write, read or none
	ReadOnly func(t *testing.T)                         // our account may not push any more
	Scope    func(t *testing.T)                         // our credential lost what writing needs
	Revoke   func(t *testing.T)                         // our credential is none any more
	Protect  func(t *testing.T, context string)         // main wants this status before a merge
	Queue    func(t *testing.T)                         // main wants a merge queue
	Methods  func(t *testing.T, methods ...string)      // of merging, that are left
	Lose     func(t *testing.T)                         // the next write is carried out, its answer is lost
	Fail     func(t *testing.T, status int)             // the next request gets this status of HTTP
	Limit    func(t *testing.T, secondary bool, until time.Time)
	Requests func() (all, writes int) // so far
}
