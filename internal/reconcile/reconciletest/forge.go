package reconciletest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// Bot is the account of promoter.
var Bot = identity.User{Host: "forge.example", Login: "promoter-bot"} //nolint:gochecknoglobals // a constant

// Forge is a repository on a forge in memory, over a Git in memory.
type Forge struct {
	Git    *Git
	Now    func() time.Time
	Method string // of merging: merge, squash, rebase; empty: merge
	Bare   bool   // squashed commits lose the trailers of their messages
	// Protected are the rules of branches, and Secret is a rule that no request
	// returns: the message of its refusal, or empty. Both apply to merges by promoter.
	Protected map[string]scm.Rules
	// SignedHeads rejects new branches of ours, whose commits are not signed.
	SignedHeads bool
	// Conflicted are the pull requests that conflict with their base.
	Conflicted  map[int]bool
	NoPipelines bool // it has no place for statuses
	Fresh       bool // its clock is that of the comments
	NewestFirst bool // lists open pull requests in this order
	Secret      func(number int) string
	Left        map[string]bool // logins that left their teams
	Deletes     string          // who deletes branches; empty: a user
	HidesPushes bool            // it does not report how branches moved
	Mergeable   bool            // what it answers about each pull request alone, whatever it does then
	// Effect is called before and after each write, as that of Git.
	Effect func(before bool, what string) error
	// Fail is called before every request, also those that only read. It may be nil.
	Fail func(what string) error

	mutex    sync.Mutex
	pulls    []*pull
	statuses map[string][]scm.Check // by commit
	comments int64                  // the last id
	// reactions are ours, by the id of the comment.
	reactions map[int64][]scm.Reaction
	Calls     map[string]int
	Merges    int
	Limits    scm.Features // what it supports

	moving sync.Mutex
	moves  map[string][]scm.Push // by branch, oldest first
}

type pull struct {
	scm.PullRequest
	reviews  []scm.Review
	comments []scm.Comment
	deleted  time.Time // its branch
	timeline []scm.TimelineEvent
}

// record closes or reopens a pull request. The caller holds the lock.
func (p *pull) record(to scm.PullRequestState, by identity.User, at time.Time) {
	p.State, p.Closer, p.ClosedAt = to, by, at
	if to == scm.StateOpen {
		p.Closer, p.ClosedAt = identity.User{}, time.Time{}
	}
	p.timeline = append(p.timeline, scm.TimelineEvent{State: to, By: by, At: at})
}

// userNamed returns the account of a user. A login like LOGIN[bot] is that of a bot, and so is the robot of the suite.
func userNamed(login string) identity.User {
	return identity.User{Host: Bot.Host, Login: login, Bot: strings.HasSuffix(login, "[bot]") || login == scmtest.Robot}
}

// NewForge returns a forge with all features.
func NewForge(git *Git, now func() time.Time) *Forge {
	f := &Forge{
		Git: git, Now: now, statuses: map[string][]scm.Check{}, reactions: map[int64][]scm.Reaction{}, Calls: map[string]int{},
		moves: map[string][]scm.Push{},
		Limits: scm.Features{
			PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true, Teams: true, GuardedMerge: true,
			Rules: true,
		},
	}
	git.Moved = func(branch, before, after string) {
		f.moving.Lock()
		defer f.moving.Unlock()
		f.moves[branch] = append(f.moves[branch], scm.Push{Before: before, After: after, At: now()})
	}
	return f
}

// Info implements scm.Repository.
func (f *Forge) Info() scm.Info {
	info := scm.Info{Key: "forge.example/1", Name: "acme/deploy", DefaultBranch: "main", MayPush: true}
	if f.Limits.PullRequests {
		info.Self = Bot
	}
	return info
}

// Time implements scm.Clock. Comments of this moment are old enough to be read, unless Fresh.
func (f *Forge) Time() time.Time {
	if f.Fresh {
		return f.Now()
	}
	return f.Now().Add(time.Minute)
}

// Features implements scm.Repository.
func (f *Forge) Features() scm.Features { return f.Limits }

// PullRequests implements scm.Repository.
func (f *Forge) PullRequests() scm.PullRequests { return pulls{f} }

// Signals implements scm.Repository.
func (f *Forge) Signals() scm.Signals { return signals{f} }

// Conversation implements scm.Repository.
func (f *Forge) Conversation() scm.Conversation { return conversation{f} }

// call counts a request and locks.
func (f *Forge) call(what string) func() {
	f.mutex.Lock()
	f.Calls[what]++
	f.update()
	return f.mutex.Unlock
}

// update updates the pull requests to their branches.
func (f *Forge) update() {
	branches := f.Git.Branches()
	for _, p := range f.pulls {
		head, there := branches[p.Head.Branch]
		if !there && p.deleted.IsZero() {
			p.deleted = f.Now()
		}
		if p.State != scm.StateOpen || !p.Head.Own {
			continue
		}
		switch {
		case !there:
			by := identity.User{Login: "ada"}
			if f.Deletes != "" {
				by = userNamed(f.Deletes)
			}
			p.record(scm.StateClosed, by, f.Now())
		case contains(f, branches[p.Base], head) && head != "":
			p.State, p.ClosedAt = scm.StateMerged, f.Now()
			p.Merged = scm.Merged{Commit: branches[p.Base], At: f.Now()}
		default:
			p.Head.Commit = head
		}
	}
}

func contains(f *Forge, base, head string) bool {
	f.Git.mutex.Lock()
	defer f.Git.mutex.Unlock()
	return f.Git.common(base, head) == head
}

// failing returns the error of a request that fails.
func failing(f *Forge, what string) error {
	if f.Fail == nil {
		return nil
	}
	return f.Fail(what)
}

// write runs a write that may fail before or after it.
func (f *Forge) write(what string, effect func() error) error {
	if err := failing(f, what); err != nil {
		return err
	}
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

// find returns a pull request. The caller holds the lock.
func (f *Forge) find(number int) *pull {
	i := slices.IndexFunc(f.pulls, func(p *pull) bool { return p.Number == number })
	if i < 0 {
		return &pull{}
	}
	return f.pulls[i]
}

func (f *Forge) merge(p *pull, method, message string) error {
	if p.State != scm.StateOpen {
		return fault.New(fault.Unauthorized, "the pull request is %s", p.State)
	}
	if p.Draft {
		return fault.New(fault.Unauthorized, "the pull request is a draft")
	}
	if method == "squash" && f.Bare {
		message = "Squashed"
	}
	commit, err := f.Git.Merge(p.Base, p.Head.Commit, method, message, repo.Signature{Name: "Forge", Email: "noreply@forge.example"}, f.Now())
	if err != nil {
		return err
	}
	p.State, p.ClosedAt = scm.StateMerged, f.Now()
	p.Merged = scm.Merged{Commit: commit, At: f.Now()}
	f.Merges++
	return nil
}

type pulls struct{ Forge *Forge }

// Open implements scm.PullRequests.
func (f pulls) Open(context.Context) ([]scm.PullRequest, error) {
	if err := failing(f.Forge, "list open"); err != nil {
		return nil, err
	}
	defer f.Forge.call("list open")()
	var open []scm.PullRequest
	for _, p := range f.Forge.pulls {
		if p.State == scm.StateOpen {
			open = append(open, p.PullRequest)
		}
	}
	if f.Forge.NewestFirst {
		slices.Reverse(open)
	}
	return open, nil
}

// Closed implements scm.PullRequests.
func (f pulls) Closed(_ context.Context, head string, limit int) ([]scm.PullRequest, error) {
	if err := failing(f.Forge, "list closed"); err != nil {
		return nil, err
	}
	defer f.Forge.call("list closed")()
	var closed []scm.PullRequest
	for _, p := range slices.Backward(f.Forge.pulls) {
		if p.State != scm.StateOpen && p.Head.Branch == head && p.Head.Own && len(closed) < limit {
			one := p.PullRequest
			f.Forge.Git.mutex.Lock()
			one.Head.Message = f.Forge.Git.commits[p.Head.Commit].Message
			f.Forge.Git.mutex.Unlock()
			closed = append(closed, one)
		}
	}
	return closed, nil
}

// Create implements scm.PullRequests. Labels are a request of their own, as on GitHub.
func (f pulls) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	var created *pull
	err := f.Forge.write("create", func() error {
		if slices.ContainsFunc(f.Forge.pulls, func(p *pull) bool {
			return p.State == scm.StateOpen && p.Head.Own && p.Head.Branch == draft.Head && p.Base == draft.Base
		}) {
			return fault.New(fault.Conflict, "there is a pull request of %s already", draft.Head)
		}
		commit := f.Forge.Git.Branch(draft.Head)
		if commit == "" {
			return fault.New(fault.Invalid, "there is no branch %s", draft.Head)
		}
		created = &pull{PullRequest: scm.PullRequest{
			Number: len(f.Forge.pulls) + 1, Title: draft.Title, Body: draft.Body, Author: Bot, Base: draft.Base, Draft: draft.AsDraft,
			Head: scm.Head{Branch: draft.Head, Commit: commit, Own: true}, Opened: f.Forge.Now(), State: scm.StateOpen,
		}}
		created.URL = fmt.Sprintf("https://forge.example/acme/deploy/pull/%d", created.Number)
		f.Forge.pulls = append(f.Forge.pulls, created)
		return nil
	})
	if err != nil {
		return scm.PullRequest{}, err // also if only the response is lost
	}
	if len(draft.Labels) > 0 {
		err = f.Forge.write("label", func() error {
			created.Labels = draft.Labels
			return nil
		})
	}
	return created.PullRequest, err
}

// Edit implements scm.PullRequests.
func (f pulls) Edit(_ context.Context, number int, edit scm.Edit) error {
	return f.Forge.write("edit", func() error {
		p := f.Forge.find(number)
		if edit.Title != nil {
			p.Title = *edit.Title
		}
		if edit.Body != nil {
			p.Body = *edit.Body
		}
		if edit.Closed != nil && *edit.Closed && p.State == scm.StateOpen {
			p.record(scm.StateClosed, Bot, f.Forge.Now())
		}
		return nil
	})
}

// Merge implements scm.PullRequests.
func (f pulls) Merge(_ context.Context, number int, merge scm.Merge) (merged scm.Merged, err error) {
	err = f.Forge.write("merge", func() error {
		p := f.Forge.find(number)
		switch {
		case p.State == scm.StateMerged:
		case p.Head.Commit != merge.Head:
			return fault.New(fault.Conflict, "the head moved")
		case p.State == scm.StateOpen && forbids(f.Forge, p) != nil:
			return forbids(f.Forge, p)
		default:
			method := f.Forge.Method
			if method == "" {
				method = "merge"
			}
			if err := f.Forge.merge(p, method, merge.Title+"\n\n"+merge.Message); err != nil {
				return err
			}
		}
		merged = p.Merged
		return nil
	})
	return merged, err
}

type signals struct{ Forge *Forge }

// Checks implements scm.Signals. Our own status is readable when the rest fails.
func (f signals) Checks(_ context.Context, commit string) ([]scm.Check, error) {
	failed := failing(f.Forge, "checks")
	defer f.Forge.call("checks")()
	latest := map[string]scm.Check{}
	for _, c := range f.Forge.statuses[commit] {
		if failed == nil || c.Own {
			latest[c.Name] = c
		}
	}
	var all []scm.Check
	for _, c := range latest {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b scm.Check) int { return strings.Compare(a.Name, b.Name) })
	return all, failed
}

// Reviews implements scm.Signals.
func (f signals) Reviews(_ context.Context, number int) ([]scm.Review, error) {
	if err := failing(f.Forge, "reviews"); err != nil {
		return nil, err
	}
	defer f.Forge.call("reviews")()
	return slices.Clone(f.Forge.find(number).reviews), nil
}

// SetStatus implements scm.Signals.
func (f signals) SetStatus(_ context.Context, commit string, status scm.Status) error {
	if f.Forge.NoPipelines {
		return fault.New(fault.NotFound, "%w", scm.ErrStatusNotStored)
	}
	return f.Forge.write("status", func() error {
		f.Forge.statuses[commit] = append(f.Forge.statuses[commit], scm.Check{
			Name: status.Context, State: status.State, Description: status.Description, At: f.Forge.Now(), Own: true,
		})
		return nil
	})
}

// Member implements scm.Signals: the name of a team ends with its only member, until that leaves.
func (f signals) Member(_ context.Context, team string, user identity.User) (bool, error) {
	if err := failing(f.Forge, "member"); err != nil {
		return false, err
	}
	defer f.Forge.call("member")()
	return strings.HasSuffix(team, "/"+user.Login) && !f.Forge.Left[user.Login], nil
}

// MayWrite implements scm.Signals.
func (f signals) MayWrite(context.Context, identity.User) (bool, error) { return true, nil }

// Rules implements scm.Ruled.
func (f *Forge) Rules(_ context.Context, branch string) (scm.Rules, error) {
	if err := failing(f, "rules"); err != nil {
		return scm.Rules{}, err
	}
	defer f.call("rules")()
	return f.Protected[branch], nil
}

// Conflicts implements scm.Conflicting.
func (f *Forge) Conflicts(_ context.Context, number int) (bool, error) {
	if err := failing(f, "conflicts"); err != nil {
		return false, err
	}
	defer f.call("conflicts")()
	return f.Conflicted[number], nil
}

// Unpushable implements scm.HeadRuled.
func (f *Forge) Unpushable(_ context.Context, branch string) (string, error) {
	if err := failing(f, "head rules"); err != nil {
		return "", err
	}
	defer f.call("head rules")()
	if f.SignedHeads {
		return "a ruleset requires signed commits on " + branch, nil
	}
	return "", nil
}

// forbids returns why a pull request may not be merged. The caller holds the lock.
func forbids(f *Forge, p *pull) error {
	rules := f.Protected[p.Base]
	if rules.Queue {
		return refuses(scm.RuleQueue, "Changes must be made through the merge queue")
	}
	if given := approvals(p); given < rules.Approvals {
		return refuses("", fmt.Sprintf("%d of %d approvals", given, rules.Approvals))
	}
	for _, name := range rules.Checks {
		if !passed(f, p.Head.Commit, name) {
			return refuses("", fmt.Sprintf("Required status check %q is expected", name))
		}
	}
	if rules.Current && f.Git.behind(p.Base, p.Head.Commit) {
		return fault.New(fault.Temporary, "the head is not up to date: %w", scm.ErrBehind)
	}
	if f.Secret != nil {
		if message := f.Secret(p.Number); message != "" {
			return refuses("", message)
		}
	}
	return nil
}

func refuses(rule, message string) error {
	return fault.Wrap(fault.Unauthorized, &scm.RefusedError{Rule: rule, Words: message})
}

// approvals counts the users whose last review is an approval.
func approvals(p *pull) int {
	var by []string
	for _, review := range slices.Backward(p.reviews) {
		if review.Author.Login == Bot.Login || slices.Contains(by, review.Author.Login) {
			continue
		}
		if review.State == scm.Approved {
			by = append(by, review.Author.Login)
		}
	}
	return len(by)
}

// passed reports whether the latest status with a name passed.
func passed(f *Forge, commit, name string) bool {
	for _, check := range slices.Backward(f.statuses[commit]) {
		if check.Name == name {
			return check.State == scm.CheckPassed
		}
	}
	return false
}

// behind reports whether a branch has commits that a head does not contain.
func (g *Git) behind(base, head string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.common(g.branches[base], head) != g.branches[base]
}

// HeadDeleted implements scm.Deletions.
func (f *Forge) HeadDeleted(_ context.Context, number int) (time.Time, error) {
	if err := failing(f, "deletions"); err != nil {
		return time.Time{}, err
	}
	defer f.call("deletions")()
	return f.find(number).deleted, nil
}

// Ready implements scm.Readiness.
func (f *Forge) Ready(context.Context, int) (bool, error) {
	if err := failing(f, "ready"); err != nil {
		return false, err
	}
	defer f.call("ready")()
	return f.Mergeable, nil
}

// MergedAs implements scm.Merges.
func (f *Forge) MergedAs(_ context.Context, commit string) ([]scm.PullRequest, error) {
	if err := failing(f, "merged as"); err != nil {
		return nil, err
	}
	defer f.call("merged as")()
	var merged []scm.PullRequest
	for _, p := range f.pulls {
		if p.State == scm.StateMerged && p.Merged.Commit == commit {
			merged = append(merged, p.PullRequest)
		}
	}
	return merged, nil
}

// Pushed implements scm.Pushes.
func (f *Forge) Pushed(_ context.Context, branch string, _ time.Time) ([]scm.Push, error) {
	if err := failing(f, "pushed"); err != nil {
		return nil, err
	}
	defer f.call("pushed")()
	f.moving.Lock()
	defer f.moving.Unlock()
	if f.HidesPushes {
		return nil, fault.New(fault.Unauthorized, "pushes are hidden")
	}
	pushes := slices.Clone(f.moves[branch])
	slices.Reverse(pushes)
	return pushes, nil
}

// Timeline implements scm.Timelines.
func (f *Forge) Timeline(_ context.Context, number int) ([]scm.TimelineEvent, error) {
	if err := failing(f, "timeline"); err != nil {
		return nil, err
	}
	defer f.call("timeline")()
	return slices.Clone(f.find(number).timeline), nil
}
