package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// Settings changes a repository as its administrators do. A method with a who
// parameter creates that account if necessary.
type Settings struct{ r *Repository }

// Settings returns the settings of a repository.
func (r *Repository) Settings() Settings { return Settings{r} }

func (s Settings) act(do func()) {
	s.r.Hub.t.Helper()
	s.r.Hub.Front.Act(do)
}

// Name returns the current full name.
func (s Settings) Name() string {
	var name string
	s.act(func() { name = s.r.FullName() })
	return name
}

// CloneURL returns the URL for Git.
func (s Settings) CloneURL() string { return s.r.Hub.URL() + "/" + s.Name() + ".git" }

// Permit sets the permission of an account: admin, write, read or none.
func (s Settings) Permit(who, permission string) {
	s.act(func() { s.r.Permissions[lower(s.r.Hub.User(who).Login)] = permission })
}

// Rename renames the repository, to another owner if the name has one. The old name
// redirects to the new one.
func (s Settings) Rename(name string) {
	s.act(func() {
		if slash := strings.LastIndex(name, "/"); slash >= 0 {
			s.r.Owner, name = name[:slash], name[slash+1:]
		}
		s.r.Name = name
		s.r.Hub.names[lower(s.r.FullName())] = s.r.ID
	})
}

// SetArchived sets whether the repository is read-only.
func (s Settings) SetArchived(archived bool) { s.act(func() { s.r.Archived = archived }) }

// SetPrivate sets whether the repository is visible only to users with a permission.
func (s Settings) SetPrivate(private bool) { s.act(func() { s.r.Private = private }) }

// Remove deletes the repository.
func (s Settings) Remove() { s.act(func() { s.r.Removed = true }) }

// DeleteMergedBranches enables deletion of the head after a merge.
func (s Settings) DeleteMergedBranches() { s.act(func() { s.r.AutoDelete = true }) }

// Deploy creates a deployment of a commit with a status of the forge.
func (s Settings) Deploy(who, commit, environment, state string) {
	s.act(func() {
		s.r.Deployed = append(s.r.Deployed, &Deployment{
			ID: s.r.Hub.NextID(), Commit: commit, Environment: environment, State: state, By: s.r.Hub.User(who), At: s.r.Hub.Now(),
		})
	})
}

// AddRelease publishes a release, or creates a draft.
func (s Settings) AddRelease(who, tag string, published time.Time, draft, prerelease bool) {
	s.act(func() {
		s.r.Releases = append(s.r.Releases, &Release{
			ID: s.r.Hub.NextID(), Tag: tag, Draft: draft, Prerelease: prerelease, Published: published.UTC(), By: s.r.Hub.User(who),
		})
	})
}

// SetReleaseNotes writes the notes of the release of a tag.
func (s Settings) SetReleaseNotes(tag, notes string) {
	s.act(func() {
		for _, one := range s.r.Releases {
			if one.Tag == tag {
				one.Notes = notes
			}
		}
	})
}

// StatusState is the latest status of a context.
type StatusState struct{ Context, State, Description, URL, By string }

// Statuses returns the latest status of every context of a commit, by context.
func (s Settings) Statuses(commit string) map[string]StatusState {
	latest := map[string]StatusState{}
	s.act(func() {
		for _, one := range s.r.Latest(commit) {
			latest[one.Context] = StatusState{Context: one.Context, State: one.State, Description: one.Description, URL: one.URL, By: one.By.Login}
		}
	})
	return latest
}

// SetStatus sets a commit status.
func (s Settings) SetStatus(who, commit, context, state string) {
	s.act(func() {
		s.r.AddStatus(Status{Commit: commit, Context: context, State: state, By: s.r.Hub.User(who)})
	})
}

// Branches returns the branches as users with clones have them.
func (r *Repository) Branches() Branches {
	return r.Hub.Front.Branches(r.Bare,
		func(who string) gittest.Author { return r.Hub.Author(r.Hub.User(who)) }, func(who string) { r.Follow(r.Hub.User(who)) })
}

// Pulls acts on the pull requests of a repository as users with browsers do. A method
// with a who parameter creates that account if necessary. An unknown number fails the
// test.
type Pulls struct{ r *Repository }

// PullRequests returns the pull requests as users have them.
func (r *Repository) PullRequests() Pulls { return Pulls{r} }

// PullState is the current state of a pull request.
type PullState struct {
	Number                  int
	Title, Body, Head, Base string
	HeadCommit, MergeCommit string
	Author, Closer          string
	Open, Merged, Draft     bool
	Labels, Assignees       []string
	Reviewers, Teams        []string
	Comments                []CommentState
	Created, Closed         time.Time
}

// CommentState is the current state of a comment.
type CommentState struct{ Author, Body string }

func (p Pulls) act(do func()) {
	p.r.Hub.t.Helper()
	p.r.Hub.Front.Act(do)
}

// With calls do for a pull request as a user.
func (p Pulls) With(who string, number int, do func(pull *Pull, by *User)) {
	p.act(func() {
		pull := p.r.Pulls[number]
		if pull == nil {
			panic(fmt.Errorf("%s has no pull request %d", p.r.FullName(), number))
		}
		do(pull, p.r.Hub.User(who))
	})
}

// on calls do for a pull request, as any user.
func (p Pulls) on(number int, do func(pull *Pull)) {
	p.With("ghost", number, func(pull *Pull, _ *User) { do(pull); pull.Touch() })
}

// Open opens a pull request as who and returns its number.
func (p Pulls) Open(who, head, base, title string) int {
	var number int
	p.act(func() { number = p.r.Open(p.r.Hub.User(who), p.r, head, base, title).Number })
	return number
}

// Fork opens a pull request by who from a branch of their fork, with one commit on it.
func (p Pulls) Fork(who, head, base, title string) int {
	var number int
	p.act(func() {
		by := p.r.Hub.User(who)
		name := fmt.Sprint(who, "/", p.r.Name)
		fork := p.r.Hub.Find(name)
		if fork == nil {
			fork = p.r.ForkTo(name)
			fork.Permissions[lower(who)] = "owner"
		}
		fork.Bare.Take(p.r.Bare, base, "refs/heads/"+head)
		fork.Bare.Add(head, "From a fork", p.r.Hub.Author(by), map[string]string{"fork.txt": head + "\n"})
		fork.Follow(by)
		number = p.r.Open(by, fork, head, base, title).Number
	})
	return number
}

// ForkTo creates a fork with this name and the current main.
func (r *Repository) ForkTo(name string) *Repository {
	fork := r.Hub.NewEmpty(name)
	fork.Fork, fork.Private = r, r.Private
	fork.Bare.Take(r.Bare, "main", "refs/heads/main")
	return fork
}

// Get returns a pull request.
func (p Pulls) Get(number int) PullState {
	var one PullState
	p.With("ghost", number, func(pull *Pull, _ *User) { one = pull.snapshot() })
	return one
}

// All returns all pull requests, oldest first.
func (p Pulls) All() []PullState {
	var all []PullState
	p.act(func() {
		for _, pull := range p.r.Sorted() {
			all = append(all, pull.snapshot())
		}
	})
	return all
}

func (p *Pull) snapshot() PullState {
	one := PullState{
		Number: p.Number, Title: p.Title, Body: p.Body, Head: p.Head, Base: p.Base, HeadCommit: p.HeadCommit,
		MergeCommit: p.MergeCommit, Author: p.Author.Login, Open: p.IsOpen(), Merged: p.Merged, Draft: p.Repo.Hub.kind.Draft(p),
		Labels: slices.Clone(p.Labels), Assignees: Logins(p.Assignees), Reviewers: Logins(p.Reviewers),
		Teams: slices.Clone(p.Teams), Created: p.Created,
	}
	if p.Closed != nil {
		one.Closer, one.Closed = p.Closed.By.Login, p.Closed.At
	}
	for _, c := range p.Comments() {
		one.Comments = append(one.Comments, CommentState{Author: c.By.Login, Body: c.Body})
	}
	return one
}

// Close closes a pull request as who.
func (p Pulls) Close(who string, number int) {
	p.With(who, number, func(pull *Pull, by *User) { pull.Close(by) })
}

// Reopen reopens a pull request as who, and restores a deleted branch.
func (p Pulls) Reopen(who string, number int) {
	p.With(who, number, func(pull *Pull, by *User) { pull.Restore(by) })
}

// Restore reopens the pull request, restores a deleted branch, and makes the pull
// request follow it again.
func (p *Pull) Restore(by *User) {
	if p.From.Bare.Head(p.Head) == "" {
		p.From.Bare.Update(p.Head, p.HeadCommit, "")
	}
	p.Reopen(by)
	p.From.Follow(by)
}

// Edit changes title and body; nil leaves them unchanged.
func (p Pulls) Edit(number int, title, body *string) {
	p.on(number, func(pull *Pull) {
		if title != nil {
			pull.Title = *title
		}
		if body != nil {
			pull.Body = *body
		}
	})
}

// Retarget changes the base.
func (p Pulls) Retarget(number int, base string) {
	p.on(number, func(pull *Pull) { pull.Base = base })
}

// Label adds a label.
func (p Pulls) Label(number int, name string) {
	p.on(number, func(pull *Pull) { pull.Label(name) })
}

// Merge merges as a user, bypassing all protection, and returns the resulting commit
// on the base. The method is one of the forge, fast-forward (a push of the head to the
// base) or queue.
func (p Pulls) Merge(who string, number int, method string) string {
	var commit string
	p.With(who, number, func(pull *Pull, by *User) {
		if method == "fast-forward" {
			p.r.Bare.Update(pull.Base, pull.HeadCommit, p.r.Bare.Head(pull.Base))
			p.r.Follow(by)
			commit = pull.HeadCommit
			return
		}
		made, clean := p.r.Hub.kind.Merge(pull, by, method)
		if !clean {
			panic(fmt.Errorf("pull request %d conflicts", number))
		}
		commit = made
	})
	return commit
}

// Approve approves the current head.
func (p Pulls) Approve(who string, number int) { p.Review(who, number, scm.Approved) }

// Review adds a review of the current head.
func (p Pulls) Review(who string, number int, state scm.ReviewState) {
	p.With(who, number, func(pull *Pull, by *User) {
		pull.Reviews = append(pull.Reviews, &Review{
			ID: p.r.Hub.NextID(), Author: by, State: state, Commit: pull.HeadCommit, Official: p.r.MayPush(by), At: p.r.Hub.Now(),
		})
		pull.Reviewers = slices.DeleteFunc(pull.Reviewers, func(u *User) bool { return u == by })
		pull.Touch()
	})
}

// Dismiss dismisses the reviews of who.
func (p Pulls) Dismiss(who string, number int) {
	p.With(who, number, func(pull *Pull, by *User) {
		for _, one := range pull.Reviews {
			one.Dismissed = one.Dismissed || one.Author == by && one.State != scm.Commented
		}
	})
}

// Comment writes a comment as who and returns its ID.
func (p Pulls) Comment(who string, number int, body string) int64 {
	var id int64
	p.With(who, number, func(pull *Pull, by *User) { id = pull.Happened(Commented, by, body).ID })
	return id
}

// Ask comments on a new issue.
func (p Pulls) Ask(who, body string) {
	p.act(func() {
		p.r.lastNumber++
		at := p.r.Hub.Now()
		p.r.issues = append(p.r.issues, &Event{
			ID: p.r.Hub.NextID(), Kind: Commented, Repo: p.r, Number: p.r.lastNumber, By: p.r.Hub.User(who), Body: body, Created: at, Updated: at,
		})
	})
}

// Reword edits a comment.
func (p Pulls) Reword(id int64, body string) {
	p.act(func() {
		if one := p.r.Comment(id); one != nil {
			one.Reword(body)
		}
	})
}

// DeleteComment deletes a comment.
func (p Pulls) DeleteComment(id int64) {
	p.act(func() {
		for _, pull := range p.r.Pulls {
			pull.Events = slices.DeleteFunc(pull.Events, func(one *Event) bool { return one.ID == id })
		}
	})
}

// React adds a reaction of who to a comment.
func (p Pulls) React(who string, id int64, content string) {
	p.act(func() {
		if one := p.r.Comment(id); one != nil {
			one.React(p.r.Hub.User(who), content)
		}
	})
}

// Reactions returns the reactions to a comment, each as "CONTENT LOGIN".
func (p Pulls) Reactions(id int64) []string {
	var all []string
	p.act(func() {
		if one := p.r.Comment(id); one != nil {
			for _, reaction := range one.Reactions {
				all = append(all, reaction.Content+" "+reaction.By.Login)
			}
		}
	})
	return all
}

// Bench returns the users and the settings of the suite, acting on a repository. login
// returns the account for a name of the suite; self is the account under test. The
// fake replaces what its kind of forge does differently, and adds what is missing.
func (r *Repository) Bench(forge scm.Forge, self string, login func(who string) string) scmtest.Bench {
	pulls, settings := r.PullRequests(), r.Settings()
	return scmtest.Bench{
		Forge: forge, Name: settings.Name(), Git: r.Branches().Hands(self),
		People: scmtest.People{
			Open:  func(_ *testing.T, who, head, base, title string) int { return pulls.Open(who, head, base, title) },
			Fork:  func(_ *testing.T, who, head, base string) int { return pulls.Fork(who, head, base, "From a fork") },
			Close: func(_ *testing.T, who string, number int) { pulls.Close(who, number) },
			Merge: func(_ *testing.T, who string, number int, method string) string {
				return pulls.Merge(who, number, method)
			},
			Reopen:   func(_ *testing.T, who string, number int) { pulls.Reopen(who, number) },
			Retarget: func(_ *testing.T, _ string, number int, base string) { pulls.Retarget(number, base) },
			Retitle:  func(_ *testing.T, _ string, number int, title string) { pulls.Edit(number, &title, nil) },
			Label:    func(_ *testing.T, _ string, number int, label string) { pulls.Label(number, label) },
			Review: func(_ *testing.T, who string, number int, state scm.ReviewState) {
				pulls.Review(login(who), number, state)
			},
			Dismiss:   func(_ *testing.T, who string, number int) { pulls.Dismiss(who, number) },
			Comment:   func(_ *testing.T, who string, number int, body string) { pulls.Comment(login(who), number, body) },
			Reword:    func(_ *testing.T, comment scm.Comment, body string) { pulls.Reword(comment.ID, body) },
			Unsay:     func(_ *testing.T, comment scm.Comment) { pulls.DeleteComment(comment.ID) },
			Ask:       func(_ *testing.T, who, body string) { pulls.Ask(who, body) },
			Reactions: func(_ *testing.T, comment scm.Comment) []string { return pulls.Reactions(comment.ID) },
			Status: func(_ *testing.T, who, commit, name string, state scm.CheckState) {
				states := map[scm.CheckState]string{scm.CheckPassed: "success", scm.CheckPending: "pending", scm.CheckFailed: "failure"}
				settings.SetStatus(login(who), commit, name, states[state])
			},
			Deploy: func(_ *testing.T, who, commit, environment, state string) {
				settings.Deploy(login(who), commit, environment, state)
			},
			Release: func(_ *testing.T, one scmtest.Release) {
				settings.AddRelease(scmtest.Ann, one.Tag, one.Published, one.Draft, one.Prerelease)
				settings.SetReleaseNotes(one.Tag, one.Notes)
			},
		},
		World: scmtest.World{
			Rename:   func(*testing.T) string { settings.Rename("moved"); return settings.Name() },
			Archive:  func(*testing.T) { settings.SetArchived(true) },
			Remove:   func(*testing.T) { settings.Remove() },
			Permit:   func(_ *testing.T, who, permission string) { settings.Permit(login(who), permission) },
			ReadOnly: func(*testing.T) { settings.Permit(self, "read") },
			Lose:     func(*testing.T) { r.Hub.Front.Traffic().Lose(AnyWrite) },
			Requests: r.Hub.Front.Traffic().Total,
		},
	}
}
