package modeltest

import (
	"context"
	"time"

	"promoter/internal/identity"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// intercept wraps the forge, so that the story can act around its requests.
func intercept(s *story, r scm.Repository) scm.Repository {
	f := forge{r, s}
	if ruled, ok := r.(scm.Ruled); ok {
		return ruledForge{f, ruled}
	}
	return f
}

// withEffect runs an effect. The story may fail before or after it.
func withEffect(s *story, what string, do func() error) error {
	if s.onEffect != nil {
		if err := s.onEffect(true, what); err != nil {
			return err
		}
	}
	if err := do(); err != nil || s.onEffect == nil {
		return err
	}
	return s.onEffect(false, what)
}

// beforeRequest runs before every request to the forge.
func beforeRequest(s *story, what string) error {
	if s.onRequest == nil {
		return nil
	}
	return s.onRequest(what)
}

func withWrite(s *story, what string, do func() error) error {
	if err := beforeRequest(s, what); err != nil {
		return err
	}
	return withEffect(s, what, do)
}

type remote struct {
	repo.Remote
	story *story
}

// Push implements repo.Remote.
func (r remote) Push(ctx context.Context, updates ...repo.Update) error {
	return withEffect(r.story, "push", func() error { return r.Remote.Push(ctx, updates...) })
}

type forge struct {
	scm.Repository
	story *story
}

type ruledForge struct {
	forge
	scm.Ruled
}

// Rules implements scm.Ruled.
func (f ruledForge) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	if err := beforeRequest(f.story, "rules"); err != nil {
		return scm.Rules{}, err
	}
	return f.Ruled.Rules(ctx, branch)
}

// Timeline implements scm.Timelines.
func (f forge) Timeline(ctx context.Context, number int) ([]scm.TimelineEvent, error) {
	if err := beforeRequest(f.story, "timeline"); err != nil {
		return nil, err
	}
	timelines, can := f.Repository.(scm.Timelines)
	if !can {
		return nil, nil
	}
	return timelines.Timeline(ctx, number)
}

// MergedAs implements scm.Merges.
func (f forge) MergedAs(ctx context.Context, commit string) ([]scm.PullRequest, error) {
	if err := beforeRequest(f.story, "merges"); err != nil {
		return nil, err
	}
	if merges, can := f.Repository.(scm.Merges); can {
		return merges.MergedAs(ctx, commit)
	}
	return nil, nil
}

// Ready implements scm.Readiness.
func (f forge) Ready(ctx context.Context, number int) (bool, error) {
	if err := beforeRequest(f.story, "ready"); err != nil {
		return false, err
	}
	if readiness, can := f.Repository.(scm.Readiness); can {
		return readiness.Ready(ctx, number)
	}
	return false, nil
}

// Conflicts implements scm.Conflicting.
func (f forge) Conflicts(ctx context.Context, number int) (bool, error) {
	if err := beforeRequest(f.story, "conflicts"); err != nil {
		return false, err
	}
	if conflicting, can := f.Repository.(scm.Conflicting); can {
		return conflicting.Conflicts(ctx, number)
	}
	return false, nil
}

// Pushed implements scm.Pushes.
func (f forge) Pushed(ctx context.Context, branch string, since time.Time) ([]scm.Push, error) {
	if err := beforeRequest(f.story, "pushes"); err != nil {
		return nil, err
	}
	if pushes, can := f.Repository.(scm.Pushes); can {
		return pushes.Pushed(ctx, branch, since)
	}
	return nil, nil
}

// IsBot implements scm.Bots.
func (f forge) IsBot(ctx context.Context, person identity.User) (bool, error) {
	if bots, can := f.Repository.(scm.Bots); can {
		return bots.IsBot(ctx, person)
	}
	return person.Bot, nil
}

// HeadDeleted implements scm.Deletions.
func (f forge) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	if err := beforeRequest(f.story, "deletions"); err != nil {
		return time.Time{}, err
	}
	deletions, can := f.Repository.(scm.Deletions)
	if !can {
		return time.Time{}, nil
	}
	return deletions.HeadDeleted(ctx, number)
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
	story *story
}

// Open implements scm.PullRequests.
func (p pulls) Open(ctx context.Context) ([]scm.PullRequest, error) {
	if err := beforeRequest(p.story, "list open"); err != nil {
		return nil, err
	}
	return p.PullRequests.Open(ctx)
}

// Closed implements scm.PullRequests.
func (p pulls) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	if err := beforeRequest(p.story, "list closed"); err != nil {
		return nil, err
	}
	return p.PullRequests.Closed(ctx, head, limit)
}

// Create implements scm.PullRequests.
func (p pulls) Create(ctx context.Context, draft scm.Draft) (made scm.PullRequest, err error) {
	err = withWrite(p.story, "create", func() (err error) {
		made, err = p.PullRequests.Create(ctx, draft)
		if err == nil {
			checkOneAboutEach(ctx, p.story, draft.Head)
		}
		return err
	})
	return made, err
}

// Edit implements scm.PullRequests.
func (p pulls) Edit(ctx context.Context, number int, edit scm.Edit) error {
	return withWrite(p.story, "edit", func() error { return p.PullRequests.Edit(ctx, number, edit) })
}

// Merge implements scm.PullRequests.
func (p pulls) Merge(ctx context.Context, number int, merge scm.Merge) (merged scm.Merged, err error) {
	err = withWrite(p.story, "merge", func() (err error) {
		merged, err = p.PullRequests.Merge(ctx, number, merge)
		if err == nil {
			checkMerge(p.story, number, merge.Head)
		}
		return err
	})
	return merged, err
}

type signals struct {
	scm.Signals
	story *story
}

// Checks implements scm.Signals. Our own status can be read where the rest fails.
func (g signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	failed := beforeRequest(g.story, "checks")
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
	if err := beforeRequest(g.story, "reviews"); err != nil {
		return nil, err
	}
	return g.Signals.Reviews(ctx, number)
}

// SetStatus implements scm.Signals.
func (g signals) SetStatus(ctx context.Context, commit string, status scm.Status) error {
	return withWrite(g.story, "status", func() error { return g.Signals.SetStatus(ctx, commit, status) })
}

// Member implements scm.Signals.
func (g signals) Member(ctx context.Context, team string, user identity.User) (bool, error) {
	if err := beforeRequest(g.story, "member"); err != nil {
		return false, err
	}
	return g.Signals.Member(ctx, team, user)
}

type conversation struct {
	scm.Conversation
	story *story
}

// Recent implements scm.Conversation.
func (c conversation) Recent(ctx context.Context, since time.Time, limit int) ([]scm.Comment, error) {
	if err := beforeRequest(c.story, "recent"); err != nil {
		return nil, err
	}
	return c.Conversation.Recent(ctx, since, limit)
}

// React implements scm.Conversation.
func (c conversation) React(ctx context.Context, comment scm.Comment, reaction scm.Reaction) error {
	return withWrite(c.story, "react", func() error { return c.Conversation.React(ctx, comment, reaction) })
}

// Reacted implements scm.Conversation.
func (c conversation) Reacted(ctx context.Context, comment scm.Comment) (bool, error) {
	if err := beforeRequest(c.story, "reactions"); err != nil {
		return false, err
	}
	return c.Conversation.Reacted(ctx, comment)
}

// saying is the name of the effect that writes only where a comment is missing.
const saying = "say"

// Say implements scm.Conversation.
func (c conversation) Say(ctx context.Context, number int, marker, text string) error {
	return withWrite(c.story, saying, func() error { return c.Conversation.Say(ctx, number, marker, text) })
}
