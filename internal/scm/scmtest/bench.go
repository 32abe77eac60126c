// Package scmtest is the conformance suite that every forge must pass. It tests every
// documented behavior of the interfaces in internal/scm; if a forge's Features lack
// one, it asserts the documented result instead.
//
// A forge provides a Bench: itself, one repository, and functions that act as other
// users and as Git. Run requests a new bench per test.
package scmtest

import (
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/scm"
)

// Names that every bench provides. The repository has the default branch main with
// one commit, which contains the file a.yaml.
const (
	Main  = "main"
	Ann   = "ann"      // may push to the repository
	Bob   = "bob"      // may push to the repository
	Eve   = "eve"      // read-only, and has a fork
	Robot = "robot-ci" // a bot that may push
	Team  = "acme/sre" // ann is a member, bob is not
)

// Bench is one repository on a forge with its environment. A nil hook is not
// supported by the bench; tests that require it are skipped with a message.
type Bench struct {
	Forge  scm.Forge
	Name   string // of the repository, as passed to Open
	Git    Git
	People People
	World  World
	// Label returns the forge's form of a label; nil: unchanged.
	Label func(name string) string
	// Deployment returns what the states of a deployment mean, by the forge's names.
	Deployment map[string]health.Status
	// Job is a check that every commit has; empty: none.
	Job string
	// Known lists tests that are known to fail on this bench, with the reason. They
	// are skipped with that message.
	Known map[string]string
}

// Ticking returns a clock that advances by a second on each call, because the times of
// forges are in whole seconds.
func Ticking() func() time.Time {
	begin, reads := time.Now(), atomic.Int64{} //nolint:forbidigo // of the server's clock, which is the machine's
	return func() time.Time { return begin.Add(time.Duration(reads.Add(1)) * time.Second) }
}

// Git gives access to the repository through Git.
type Git struct {
	// Commit adds a commit with one changed file to a branch and returns its ID. A
	// branch that does not exist starts at main.
	Commit func(t *testing.T, commit Commit) string
	// Log lists the commits of a branch, newest first; none if it does not exist.
	Log func(t *testing.T, branch string) []string
	// Message returns the message of a commit.
	Message func(t *testing.T, commit string) string
	Delete  func(t *testing.T, who, branch string)
}

// Commit is a commit that a user pushes. If By is empty, it is our own account.
type Commit struct {
	By, Branch, Path, Content, Message string
}

// People acts as other users do in their browsers.
type People struct {
	Open  func(t *testing.T, who, head, base, title string) int
	Fork  func(t *testing.T, who, head, base string) int // from the fork of who, a branch with that name
	Close func(t *testing.T, who string, number int)
	// Merge merges and returns the resulting commit on the base. Method is merge,
	// squash, rebase, fast-forward (by a push) or queue.
	Merge func(t *testing.T, who string, number int, method string) string
	// Reopen reopens a closed pull request, and restores its head branch if it was
	// deleted.
	Reopen   func(t *testing.T, who string, number int)
	Retarget func(t *testing.T, who string, number int, base string) // to another branch
	Draft    func(t *testing.T, who string, number int, draft bool)  // or ready for review
	Retitle  func(t *testing.T, who string, number int, title string)
	Label    func(t *testing.T, who string, number int, label string)
	Review   func(t *testing.T, who string, number int, state scm.ReviewState)
	Dismiss  func(t *testing.T, who string, number int) // the reviews of who
	Comment  func(t *testing.T, who string, number int, body string)
	// Reword edits a comment, and Unsay deletes one.
	Reword func(t *testing.T, comment scm.Comment, body string)
	Unsay  func(t *testing.T, comment scm.Comment)
	// Ask comments on an issue that is not a pull request.
	Ask func(t *testing.T, who, body string)
	// Reactions lists the reactions to a comment in the order in which they were
	// added, each as the forge's name, a space, and the login.
	Reactions func(t *testing.T, comment scm.Comment) []string
	Status    func(t *testing.T, who, commit, context string, state scm.CheckState)
	// Check adds a check run with a conclusion of the forge, or in_progress.
	Check   func(t *testing.T, who, commit, name, conclusion string)
	Release func(t *testing.T, release Release)
	// Deploy creates a deployment of a commit, with a state of the forge: see
	// Bench.Deployment.
	Deploy func(t *testing.T, who, commit, environment, state string)
}

// Release is a release that a user publishes.
type Release struct {
	Tag, Notes        string
	Draft, Prerelease bool
	Published         time.Time
}

// World changes settings and injects failures.
type World struct {
	Rename   func(t *testing.T) string // returns the full new name
	Archive  func(t *testing.T)
	Remove   func(t *testing.T)
	Permit   func(t *testing.T, who, permission string) // write, read or none
	ReadOnly func(t *testing.T)                         // revokes our account's permission to push
	Scope    func(t *testing.T)                         // revokes our credential's permission to write
	Revoke   func(t *testing.T)                         // revokes our credential
	Protect  func(t *testing.T, context string)         // main requires this status before a merge
	Queue    func(t *testing.T)                         // main requires a merge queue
	Methods  func(t *testing.T, methods ...string)      // restricts the merge methods
	Lose     func(t *testing.T)                         // executes the next write, but drops its response
	Fail     func(t *testing.T, status int)             // fails the next request with this HTTP status
	Limit    func(t *testing.T, secondary bool, until time.Time)
	Requests func() (all, writes int) // so far
}
