package reconciletest

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/identity"
	"promoter/internal/scm"
)

// ByHand opens a pull request as a user, from a branch of the repository or of a fork.
func (f *Forge) ByHand(author, head, base string, own bool) int {
	defer f.call("by a user")()
	p := &pull{PullRequest: scm.PullRequest{
		Number: len(f.pulls) + 1, Title: "By hand", Author: identity.User{Host: "forge.example", Login: author},
		Head: scm.Head{Branch: head, Commit: f.Git.Branch(head), Own: own}, Base: base, Opened: f.Now(), State: scm.StateOpen,
	}}
	f.pulls = append(f.pulls, p)
	return p.Number
}

// CloseByHand closes a pull request as a user, or as the bot LOGIN[bot].
func (f *Forge) CloseByHand(number int, login string) {
	defer f.call("by a user")()
	f.find(number).record(scm.StateClosed, userNamed(login), f.Now())
}

// Review adds a review of the current head. For a bot, LOGIN[bot], the forge does not
// report whether it may write.
func (f *Forge) Review(number int, login string, state scm.ReviewState) {
	defer f.call("by a user")()
	p, bot := f.find(number), strings.HasSuffix(login, "[bot]")
	p.reviews = append(p.reviews, scm.Review{
		Author: identity.User{Host: "forge.example", Login: login, Bot: bot}, State: state, Commit: p.Head.Commit, At: f.Now(), MayWrite: !bot,
	})
}

// Rename shows another account as the author of what a login wrote, as a forge does after the account
// was renamed or deleted. The zero value is a deleted one, which may not write.
func (f *Forge) Rename(login string, to identity.User) {
	defer f.call("by a user")()
	for _, p := range f.pulls {
		for i := range p.reviews {
			if p.reviews[i].Author.Login == login {
				p.reviews[i].Author, p.reviews[i].MayWrite = to, to.Login != ""
			}
		}
		for i := range p.comments {
			if p.comments[i].Author.Login == login {
				p.comments[i].Author = to
			}
		}
	}
}

// Check reports a check on a commit.
func (f *Forge) Check(commit, name string, state scm.CheckState) {
	defer f.call("by a user")()
	f.statuses[commit] = append(f.statuses[commit], scm.Check{Name: name, State: state, At: f.Now()})
}

// End ends a check of a commit without a result, with what the forge counts it as.
func (f *Forge) End(commit, name string, state scm.CheckState) {
	defer f.call("by a user")()
	f.statuses[commit] = append(f.statuses[commit], scm.Check{Name: name, State: state, NoResult: true, At: f.Now()})
}

// Describe sets a commit status with a description as a user.
func (f *Forge) Describe(commit, name string, state scm.CheckState, description string) {
	defer f.call("by a user")()
	f.statuses[commit] = append(f.statuses[commit], scm.Check{Name: name, State: state, Description: description, At: f.Now()})
}

// StatusOf returns our own status on a commit, "STATE DESCRIPTION"; empty if there is none.
func (f *Forge) StatusOf(commit, name string) string {
	defer f.call("by a user")()
	for _, c := range slices.Backward(f.statuses[commit]) {
		if c.Name == name && c.Own {
			return string(c.State) + " " + c.Description
		}
	}
	return ""
}

// MergeByHand merges a pull request as a user.
func (f *Forge) MergeByHand(number int, method string) error {
	defer f.call("by a user")()
	return f.merge(f.find(number), method, "Merge by hand")
}

// MergeWith merges a pull request as a user, with a message.
func (f *Forge) MergeWith(number int, method, message string) error {
	defer f.call("by a user")()
	return f.merge(f.find(number), method, message)
}

// Rewrite edits title and body as a user.
func (f *Forge) Rewrite(number int, title, body string) {
	defer f.call("by a user")()
	p := f.find(number)
	p.Title, p.Body = title, body
}

// Retarget changes the base of a pull request as a user.
func (f *Forge) Retarget(number int, base string) {
	defer f.call("by a user")()
	f.find(number).Base = base
}

// All returns all pull requests, open or not.
func (f *Forge) All() []scm.PullRequest {
	defer f.call("by a user")()
	var all []scm.PullRequest
	for _, p := range f.pulls {
		all = append(all, p.PullRequest)
	}
	return all
}

// CommentsOf returns the comments on a pull request.
func (f *Forge) CommentsOf(number int) []scm.Comment {
	defer f.call("by a user")()
	return slices.Clone(f.find(number).comments)
}

// Draft makes a pull request a draft, or ready, as a user.
func (f *Forge) Draft(number int, draft bool) {
	defer f.call("by a user")()
	f.find(number).Draft = draft
}

// Converse opens a conversation that keeps a pull request from being merged, or resolves it, as a user.
func (f *Forge) Converse(number int) {
	defer f.call("by a user")()
	f.find(number).Unresolved = !f.find(number).Unresolved
}

// Reopen reopens a pull request as a user who restored its branch, or as the bot LOGIN[bot].
func (f *Forge) Reopen(number int, login string) {
	defer f.call("by a user")()
	p := f.find(number)
	p.deleted = time.Time{}
	p.record(scm.StateOpen, userNamed(login), f.Now())
}
