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
// main with one commit.
const (
	Main     = "main"
	Ann      = "ann"      // may push to the repository
	Bob      = "bob"      // may push to the repository
	Eve      = "eve"      // may read only, and has a fork
	Robot    = "robot-ci" // a bot that may push
	Team     = "acme/sre" // ann is in it, bob is not
	TeamName = "team:" + Team
)

// Bench is one repository on a forge and everything around it. A nil hook is
// something that this counterpart cannot do; its tests are skipped with that
// word, except where the seam documents another result.
type Bench struct {
	Forge  scm.Forge
	Name   string // of the repository, as Open wants it
	Git    Git
	People People
	World  World
	// Known names tests of the suite that this counterpart is known to fail, with
	// the reason. They are skipped with it.
	Known map[string]string
}

// Git is the repository from the side of Git.
type Git struct {
	// Commit adds a commit with one changed file to a branch and returns its id.
	// A branch that is not there begins at main.
	Commit func(t *testing.T, commit Commit) string
	// Head returns the commit of a branch, empty when there is none.
	Head func(t *testing.T, branch string) string
	// Parents returns the parents of a commit.
	Parents func(t *testing.T, commit string) []string
	// Message returns the message of a commit.
	Message func(t *testing.T, commit string) string
	Delete  func(t *testing.T, who, branch string)
}

// Commit is a commit that somebody pushes.
type Commit struct {
	By, Branch, Path, Content, Message string
}

// People acts as other people do with their browsers.
type People struct {
	Open   func(t *testing.T, who, head, base, title string) int
	Fork   func(t *testing.T, who, head, base string) int // from the fork of who, a branch with that name
	Close  func(t *testing.T, who string, number int)
	Reopen func(t *testing.T, who string, number int)
	// Merge merges and returns the commit that stands on the base then. Method is
	// merge, squash, rebase, fast-forward (by a push) or queue.
	Merge   func(t *testing.T, who string, number int, method string) string
	Retitle func(t *testing.T, who string, number int, title string)
	Label   func(t *testing.T, who string, number int, label string)
	Review  func(t *testing.T, who string, number int, state scm.ReviewState)
	Dismiss func(t *testing.T, who string, number int) // the reviews of who
	Comment func(t *testing.T, who string, number int, body string)
	// Status sets a commit status, Check a check run with a conclusion of the
	// forge, or "in_progress".
	Status  func(t *testing.T, who, commit, context string, state scm.CheckState)
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
	Rename   func(t *testing.T, name string) string // returns the whole new name
	Archive  func(t *testing.T)
	Remove   func(t *testing.T)
	Permit   func(t *testing.T, who, permission string) // write, read or none
	ReadOnly func(t *testing.T)                         // our credential may not push any more
	Revoke   func(t *testing.T)                         // our credential is none any more
	// Protect asks for a status on main before a merge; Queue for a merge queue.
	Protect func(t *testing.T, context string)
	Queue   func(t *testing.T)
	// Methods leaves these merge methods.
	Methods func(t *testing.T, methods ...string)
	// Lose carries the next writing request out and breaks the connection.
	Lose func(t *testing.T)
	// Fail answers the next request with a status of HTTP and carries nothing out.
	Fail func(t *testing.T, status int)
	// Limit answers all requests with a rate limit until the time; secondary is the
	// kind that counts writes. Lift ends it.
	Limit func(t *testing.T, secondary bool, until time.Time)
	Lift  func(t *testing.T)
	// Writes counts the requests so far that changed something or tried to.
	Writes func() int
	// Requests counts all of them.
	Requests func() int
}
