package modeltest

import (
	"context"
	"time"

	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// around puts the story between promoter and the forge.
func (s *story) around(r scm.Repository) scm.Repository {
	f := forge{r, s}
	if ruled, ok := r.(scm.Ruled); ok {
		return ruledForge{f, ruled}
	}
	return f
}

// doing carries out what changes something. Either side of it may break.
func (s *story) doing(what string, do func() error) error {
	if s.effect != nil {
		if err := s.effect(true, what); err != nil {
			return err
		}
	}
	if err := do(); err != nil || s.effect == nil {
		return err
	}
	return s.effect(false, what)
}

// asking is before every request to the forge.
func (s *story) asking(what string) error {
	if s.asked == nil {
		return nil
	}
	return s.asked(what)
}

func (s *story) writing(what string, do func() error) error {
	if err := s.asking(what); err != nil {
		return err
	}
	return s.doing(what, do)
}

type remote struct {
	engine.Remote
	*story
}

// Push implements engine.Remote.
func (r remote) Push(ctx context.Context, updates ...engine.Update) error {
	return r.doing("push", func() error { return r.Remote.Push(ctx, updates...) })
}

type forge struct {
	scm.Repository
	*story
}

type ruledForge struct {
	forge
	scm.Ruled
}

// Rules implements scm.Ruled.
func (f ruledForge) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	if err := f.asking("rules"); err != nil {
		return scm.Rules{}, err
	}
	return f.Ruled.Rules(ctx, branch)
}

// PullRequests implements scm.Repository.
func (f forge) PullRequests() scm.PullRequests { return pulls{f.Repository.PullRequests(), f.story} }

// Signals implements scm.Repository.
func (f forge) Signals() scm.Signals { return signals{f.Repository.Signals(), f.story} }

// Conversation implements scm.Repository.
func (f forge) Conversation() scm.Conversation {
	return conversation{f.Repository.Conversation(), f.story}
}

type pulls struct {
	scm.PullRequests
	*story
}

// Open implements scm.PullRequests.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	if err := p.asking("list open"); err != nil {
		return nil, err
	}
	return p.PullRequests.Open(ctx)
}

// Closed implements scm.PullRequests.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	if err := p.asking("list closed"); err != nil {
		return nil, err
	}
	return p.PullRequests.Closed(ctx, head, limit)
}

// Create implements scm.PullRequests.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (made scm.PullRequest, err error) {
	err = p.writing("create", func() (err error) {
		made, err = p.PullRequests.Create(ctx, draft)
		return err
	})
	return made, err
}

// Edit implements scm.PullRequests.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	return p.writing("edit", func() error { return p.PullRequests.Edit(ctx, number, edit) })
}

// Merge implements scm.PullRequests.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (merged scm.Merged, err error) {
	err = p.writing("merge", func() (err error) {
		merged, err = p.PullRequests.Merge(ctx, number, merge)
		if err == nil {
			p.mayMerge(number, merge.Head)
		}
		return err
	})
	return merged, err
}

type signals struct {
	scm.Signals
	*story
}

// Checks implements scm.Signals. Our own status can be read where the rest fails.
func (g signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	failed := g.asking("checks")
	all, err := g.Signals.Checks(ctx, commit)
	if failed == nil {
		return all, err
	}
	var own []scm.Check
	for _, check := range all {
		if check.Own {
			own = append(own, check)
		}
	}
	return own, failed
}

// Reviews implements scm.Signals.
func (g signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if err := g.asking("reviews"); err != nil {
		return nil, err
	}
	return g.Signals.Reviews(ctx, number)
}

// SetStatus implements scm.Signals.
func (g signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	return g.writing("status", func() error { return g.Signals.SetStatus(ctx, commit, status) })
}

// Member implements scm.Signals.
func (g signals) Member(ctx context.Context, team string, person identity.User) (bool, error) {
	if err := g.asking("member"); err != nil {
		return false, err
	}
	return g.Signals.Member(ctx, team, person)
}

type conversation struct {
	scm.Conversation
	*story
}

// Recent implements scm.Conversation.
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	if err := c.asking("recent"); err != nil {
		return nil, err
	}
	return c.Conversation.Recent(ctx, since, limit)
}

// React implements scm.Conversation.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	return c.writing("react", func() error { return c.Conversation.React(ctx, comment, reaction) })
}

// saying writes only where a comment is not there yet.
const saying = "say"

// Say implements scm.Conversation.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	return c.writing(saying, func() error { return c.Conversation.Say(ctx, number, marker, text) })
}
