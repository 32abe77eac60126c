package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion/engine"
	"promoter/internal/scm"
)

// Bot is who promoter is on the forge.
var Bot = identity.Person{Host: "forge.example", Login: "promoter-bot"} //nolint:gochecknoglobals // a constant

// Forge is a repository on a forge in memory, over a Git in memory.
type Forge struct {
	Git    *Git
	Now    func() time.Time
	Method string // of merging: merge, squash, rebase; empty: merge
	Bare   bool   // messages of squashed commits lose their trailers
	// Effect is asked before a write and after it, as that of Git.
	Effect func(before bool, what string) error

	mutex    sync.Mutex
	pulls    []*pull
	statuses map[string][]scm.Check // by commit
	Calls    map[string]int
	Merges   int
	Limits   scm.Features // what it cannot do, where false
}

type pull struct {
	scm.PullRequest
	reviews  []scm.Review
	comments []scm.Comment
}

// NewForge makes a forge that can do everything.
func NewForge(git *Git, now func() time.Time) *Forge {
	return &Forge{
		Git: git, Now: now, statuses: map[string][]scm.Check{}, Calls: map[string]int{},
		Limits: scm.Features{
			PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true, Teams: true, GuardedMerge: true,
		},
	}
}

// Info implements scm.Repository.
func (f *Forge) Info() scm.Info {
	info := scm.Info{Key: "forge.example/1", Name: "acme/deploy", DefaultBranch: "main", MayPush: true}
	if f.Limits.PullRequests {
		info.Self = Bot
	}
	return info
}

// Features implements scm.Repository.
func (f *Forge) Features() scm.Features { return f.Limits }

// PullRequests implements scm.Repository.
func (f *Forge) PullRequests() scm.PullRequests { return pulls{f} }

// Signals implements scm.Repository.
func (f *Forge) Signals() scm.Signals { return signals{f} }

// Conversation implements scm.Repository.
func (f *Forge) Conversation() scm.Conversation { return conversation{f} }

// call counts a request and takes the lock.
func (f *Forge) call(what string) func() {
	f.mutex.Lock()
	f.Calls[what]++
	f.follow()
	return f.mutex.Unlock
}

// follow lets the pull requests see what happened to their branches.
func (f *Forge) follow() {
	branches := f.Git.Branches()
	for _, p := range f.pulls {
		if p.State != scm.StateOpen || !p.Head.Own {
			continue
		}
		head, there := branches[p.Head.Branch]
		switch {
		case !there:
			p.State, p.ClosedAt, p.Closer = scm.StateClosed, f.Now(), identity.Person{Login: "ada"}
		case f.contains(branches[p.Base], head) && head != "":
			p.State, p.ClosedAt = scm.StateMerged, f.Now()
			p.Merged = scm.Merged{Commit: branches[p.Base], At: f.Now()}
		default:
			p.Head.Commit = head
		}
	}
}

func (f *Forge) contains(base, head string) bool {
	f.Git.mutex.Lock()
	defer f.Git.mutex.Unlock()
	return f.Git.common(base, head) == head
}

// write runs an effect with what can go wrong around it.
func (f *Forge) write(what string, effect func() error) error {
	if f.Effect != nil {
		if err := f.Effect(true, what); err != nil {
			return err
		}
	}
	unlock := f.call(what)
	err := effect()
	unlock()
	if err != nil || f.Effect == nil {
		return err
	}
	return f.Effect(false, what)
}

// find returns a pull request; the lock is held.
func (f *Forge) find(number int) *pull {
	i := slices.IndexFunc(f.pulls, func(p *pull) bool { return p.Number == number })
	if i < 0 {
		return &pull{}
	}
	return f.pulls[i]
}

// People's hands: what a test does to pull requests.

// ByHand opens a pull request of a person, perhaps from a fork.
func (f *Forge) ByHand(author, head, base string, own bool) int {
	defer f.call("by hand")()
	p := &pull{PullRequest: scm.PullRequest{
		Number: len(f.pulls) + 1, Title: "By hand", Author: identity.Person{Host: "forge.example", Login: author},
		Head: scm.Head{Branch: head, Commit: f.Git.Branch(head), Own: own}, Base: base, Opened: f.Now(), State: scm.StateOpen,
	}}
	f.pulls = append(f.pulls, p)
	return p.Number
}

// CloseByHand closes a pull request as a person.
func (f *Forge) CloseByHand(number int, login string) {
	defer f.call("by hand")()
	p := f.find(number)
	p.State, p.ClosedAt, p.Closer = scm.StateClosed, f.Now(), identity.Person{Host: "forge.example", Login: login}
}

// Review adds a review of the present head.
func (f *Forge) Review(number int, login string, state scm.ReviewState) {
	defer f.call("by hand")()
	p := f.find(number)
	p.reviews = append(p.reviews, scm.Review{
		Author: identity.Person{Host: "forge.example", Login: login}, State: state, Commit: p.Head.Commit, At: f.Now(), MayWrite: true,
	})
}

// Check reports a check on a commit.
func (f *Forge) Check(commit, name string, state scm.CheckState) {
	defer f.call("by hand")()
	f.statuses[commit] = append(f.statuses[commit], scm.Check{Name: name, State: state, At: f.Now()})
}

// MergeByHand merges as a person does on the page.
func (f *Forge) MergeByHand(number int, method string) error {
	defer f.call("by hand")()
	return f.merge(f.find(number), method, "Merge by hand")
}

// Rewrite edits title and body as a person.
func (f *Forge) Rewrite(number int, title, body string) {
	defer f.call("by hand")()
	p := f.find(number)
	p.Title, p.Body = title, body
}

// Retarget changes the base of a pull request as a person.
func (f *Forge) Retarget(number int, base string) {
	defer f.call("by hand")()
	f.find(number).Base = base
}

// All returns every pull request there ever was.
func (f *Forge) All() []scm.PullRequest {
	defer f.call("by hand")()
	var all []scm.PullRequest
	for _, p := range f.pulls {
		all = append(all, p.PullRequest)
	}
	return all
}

// CommentsOf returns what was said on a pull request.
func (f *Forge) CommentsOf(number int) []scm.Comment {
	defer f.call("by hand")()
	return slices.Clone(f.find(number).comments)
}

func (f *Forge) merge(p *pull, method, message string) error {
	if p.State != scm.StateOpen {
		return fault.New(fault.Unauthorised, "the pull request is %s", p.State)
	}
	if method == "squash" && f.Bare {
		message = "Squashed"
	}
	commit, err := f.Git.Merge(p.Base, p.Head.Commit, method, message, engine.Signature{Name: "Forge", Email: "noreply@forge.example"}, f.Now())
	if err != nil {
		return err
	}
	p.State, p.ClosedAt = scm.StateMerged, f.Now()
	p.Merged = scm.Merged{Commit: commit, At: f.Now()}
	f.Merges++
	return nil
}

type pulls struct{ *Forge }

// Open implements scm.PullRequests.
func (f pulls) Open(context.Context) ([]scm.PullRequest, error) {
	defer f.call("list open")()
	var open []scm.PullRequest
	for _, p := range f.pulls {
		if p.State == scm.StateOpen {
			open = append(open, p.PullRequest)
		}
	}
	return open, nil
}

// Closed implements scm.PullRequests.
func (f pulls) Closed(_ context.Context, head string, limit int) ([]scm.PullRequest, error) {
	defer f.call("list closed")()
	var closed []scm.PullRequest
	for _, p := range slices.Backward(f.pulls) {
		if p.State != scm.StateOpen && p.Head.Branch == head && p.Head.Own && len(closed) < limit {
			one := p.PullRequest
			f.Git.mutex.Lock()
			one.Head.Message = f.Git.commits[p.Head.Commit].Message
			f.Git.mutex.Unlock()
			closed = append(closed, one)
		}
	}
	return closed, nil
}

// Create implements scm.PullRequests.
func (f pulls) Create(_ context.Context, draft scm.Draft) (created scm.PullRequest, err error) {
	err = f.write("create", func() error {
		if slices.ContainsFunc(f.pulls, func(p *pull) bool {
			return p.State == scm.StateOpen && p.Head.Own && p.Head.Branch == draft.Head && p.Base == draft.Base
		}) {
			return fault.New(fault.Conflict, "there is a pull request of %s already", draft.Head)
		}
		commit := f.Git.Branch(draft.Head)
		if commit == "" {
			return fault.New(fault.Invalid, "there is no branch %s", draft.Head)
		}
		created = scm.PullRequest{
			Number: len(f.pulls) + 1, Title: draft.Title, Body: draft.Body, Author: Bot, Base: draft.Base, Draft: draft.AsDraft,
			Head: scm.Head{Branch: draft.Head, Commit: commit, Own: true}, Labels: draft.Labels, Opened: f.Now(), State: scm.StateOpen,
		}
		created.URL = fmt.Sprintf("https://forge.example/acme/deploy/pull/%d", created.Number)
		f.pulls = append(f.pulls, &pull{PullRequest: created})
		return nil
	})
	return created, err
}

// Edit implements scm.PullRequests.
func (f pulls) Edit(_ context.Context, number int, edit scm.Edit) error {
	return f.write("edit", func() error {
		p := f.find(number)
		if edit.Title != nil {
			p.Title = *edit.Title
		}
		if edit.Body != nil {
			p.Body = *edit.Body
		}
		if edit.Closed != nil && *edit.Closed && p.State == scm.StateOpen {
			p.State, p.ClosedAt, p.Closer = scm.StateClosed, f.Now(), Bot
		}
		return nil
	})
}

// Merge implements scm.PullRequests.
func (f pulls) Merge(_ context.Context, number int, merge scm.Merge) (merged scm.Merged, err error) {
	err = f.write("merge", func() error {
		p := f.find(number)
		switch {
		case p.State == scm.StateMerged:
		case p.Head.Commit != merge.Head:
			return fault.New(fault.Conflict, "the head moved")
		default:
			method := f.Method
			if method == "" {
				method = "merge"
			}
			if err := f.merge(p, method, merge.Title+"\n\n"+merge.Message); err != nil {
				return err
			}
		}
		merged = p.Merged
		return nil
	})
	return merged, err
}

type signals struct{ *Forge }

// Checks implements scm.Signals.
func (f signals) Checks(_ context.Context, commit string) ([]scm.Check, error) {
	defer f.call("checks")()
	latest := map[string]scm.Check{}
	for _, c := range f.statuses[commit] {
		latest[c.Name] = c
	}
	var all []scm.Check
	for _, c := range latest {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b scm.Check) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Reviews implements scm.Signals.
func (f signals) Reviews(_ context.Context, number int) ([]scm.Review, error) {
	defer f.call("reviews")()
	return slices.Clone(f.find(number).reviews), nil
}

// SetStatus implements scm.Signals.
func (f signals) SetStatus(_ context.Context, commit string, status scm.Status) error {
	return f.write("status", func() error {
		f.statuses[commit] = append(f.statuses[commit], scm.Check{
			Name: status.Context, State: status.State, Description: status.Description, At: f.Now(), Own: true,
		})
		return nil
	})
}

// Member implements scm.Signals: the name of a team says who is in it.
func (f signals) Member(_ context.Context, team string, person identity.Person) (bool, error) {
	defer f.call("member")()
	return strings.HasSuffix(team, "/"+person.Login), nil
}

// MayWrite implements scm.Signals.
func (f signals) MayWrite(context.Context, identity.Person) (bool, error) { return true, nil }

type conversation struct{ *Forge }

// Comments implements scm.Conversation.
func (f conversation) Comments(_ context.Context, number int) ([]scm.Comment, error) {
	return f.CommentsOf(number), nil
}

// Say implements scm.Conversation.
func (f conversation) Say(_ context.Context, number int, marker, text string) error {
	defer f.call("say")()
	p := f.find(number)
	body := "<!-- " + marker + " -->\n" + text
	i := slices.IndexFunc(p.comments, func(c scm.Comment) bool { return strings.Contains(c.Body, "<!-- "+marker+" -->") })
	if i >= 0 {
		p.comments[i].Body = body
		return nil
	}
	p.comments = append(p.comments, scm.Comment{ID: int64(len(p.comments) + 1), Author: Bot, Body: body, Created: f.Now()})
	return nil
}
