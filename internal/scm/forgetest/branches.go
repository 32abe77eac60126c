package forgetest

import (
	"strings"
	"testing"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/scmtest"
)

// Branches gives access to the branches of a repository as users with clones have it.
// The repository of a fake embeds it.
type Branches struct {
	front  *Front
	bare   *gittest.Repository
	author func(who string) gittest.Author
	pushed func(who string)
}

// Branches returns the branches of a bare repository. The fake provides author, which
// returns the commit author of an account, creating it if necessary, and pushed,
// which is called after every change.
func (f *Front) Branches(bare *gittest.Repository, author func(who string) gittest.Author, pushed func(who string)) Branches {
	return Branches{front: f, bare: bare, author: author, pushed: pushed}
}

// Dir returns the directory of the bare repository.
func (b Branches) Dir() string { return b.bare.Dir() }

// Commit adds a commit with these changed files to a branch, as a push by who, and
// returns its ID. A branch that does not exist starts at main.
func (b Branches) Commit(who, branch, message string, files map[string]string) string {
	var made string
	b.front.Act(func() {
		made = b.bare.Add(branch, message, b.author(who), files)
		b.pushed(who)
	})
	return made
}

// SetHead points a branch at a commit, as a force push by who.
func (b Branches) SetHead(who, branch, commit string) {
	b.front.Act(func() {
		b.bare.Update(branch, commit, "")
		b.pushed(who)
	})
}

// DeleteBranch deletes a branch as who; open pull requests from it are closed.
func (b Branches) DeleteBranch(who, branch string) {
	b.front.Act(func() {
		b.bare.Delete(branch)
		b.pushed(who)
	})
}

// Head returns the commit of a branch, empty if it does not exist.
func (b Branches) Head(branch string) string {
	var commit string
	b.front.Act(func() { commit = b.bare.Head(branch) })
	return commit
}

// ReadCommit reads a commit.
func (b Branches) ReadCommit(id string) gittest.Commit {
	var read gittest.Commit
	b.front.Act(func() { read = b.bare.ReadCommit(id) })
	return read
}

// Run runs git in the bare repository and returns its output.
func (b Branches) Run(args ...string) string {
	var out string
	b.front.Act(func() { out = b.bare.Run(args...) })
	return out
}

// Hands returns the Git operations of the suite; self is the account under test.
func (b Branches) Hands(self string) scmtest.Git {
	return scmtest.Git{
		Commit: func(_ *testing.T, c scmtest.Commit) string {
			if c.By == "" {
				c.By = self
			}
			return b.Commit(c.By, c.Branch, c.Message, map[string]string{c.Path: c.Content})
		},
		Log: func(_ *testing.T, branch string) []string {
			if b.Head(branch) == "" {
				return nil
			}
			return strings.Fields(b.Run("rev-list", branch))
		},
		Message: func(_ *testing.T, commit string) string { return b.ReadCommit(commit).Message },
		Delete:  func(_ *testing.T, who, branch string) { b.DeleteBranch(who, branch) },
	}
}
