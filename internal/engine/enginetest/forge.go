package enginetest

import (
	"slices"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// Bot is who promoter is on the forge.
var Bot = identity.User{Host: "forge.example", Login: "promoter-bot"} //nolint:gochecknoglobals // a constant

// Forge is a repository on a forge in memory, over a Git in memory.
type Forge struct {
	Git    *Git
	Now    func() time.Time
	Method string // of merging: merge, squash, rebase; empty: merge
	Bare   bool   // messages of squashed commits lose their trailers
	// Protected is what it asks itself before something lands on a branch, and
	// Secret what it asks and tells nobody: the words of its refusal, empty where it
	// does not mind. Both are asked by the merges of promoter alone.
	Protected map[string]scm.Rules
	Secret    func(number int) string
	// Effect is asked before a write and after it, as that of Git.
	Effect func(before bool, what string) error
	// Fail is asked before every request, also those that only read. Nil: none
	// fails.
	Fail func(what string) error

	mutex    sync.Mutex
	pulls    []*pull
	statuses map[string][]scm.Check // by commit
	comments int64                  // ever said
	// reactions are ours, by the id of the comment.
	reactions map[int64][]scm.Reaction
	Calls     map[string]int
	Merges    int
	Limits    scm.Features // what it cannot do, where false
}

type pull struct {
	scm.PullRequest
	reviews  []scm.Review
	comments []scm.Comment
	deleted  time.Time // its branch
}

// NewForge makes a forge that can do everything.
func NewForge(git *Git, now func() time.Time) *Forge {
	return &Forge{
		Git: git, Now: now, statuses: map[string][]scm.Check{}, reactions: map[int64][]scm.Reaction{}, Calls: map[string]int{},
		Limits: scm.Features{
			PullRequests: true, Closers: true, Approvals: true, Statuses: true, Comments: true, Teams: true, GuardedMerge: true,
			Rules: true,
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
		head, there := branches[p.Head.Branch]
		if !there && p.deleted.IsZero() {
			p.deleted = f.Now()
		}
		if p.State != scm.StateOpen || !p.Head.Own {
			continue
		}
		switch {
		case !there:
			p.State, p.ClosedAt, p.Closer = scm.StateClosed, f.Now(), identity.User{Login: "ada"}
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

// failing is the error of a request that fails.
func (f *Forge) failing(what string) error {
	if f.Fail == nil {
		return nil
	}
	return f.Fail(what)
}

// write runs an effect with what can go wrong around it.
func (f *Forge) write(what string, effect func() error) error {
	if err := f.failing(what); err != nil {
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

// find returns a pull request; the lock is held.
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
	commit, err := f.Git.Merge(p.Base, p.Head.Commit, method, message, engine.Signature{Name: "Forge", Email: "noreply@forge.example"}, f.Now())
	if err != nil {
		return err
	}
	p.State, p.ClosedAt = scm.StateMerged, f.Now()
	p.Merged = scm.Merged{Commit: commit, At: f.Now()}
	f.Merges++
	return nil
}
