package simulate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
)

// firstNumber is the number of the first simulated pull request. The forge would give it
// another one, so it is not shown.
const firstNumber = 1 << 30

// forge is the forge with the pull requests that the simulation opens, merges, and closes.
// Each question is asked once, and about what the forge has. Nothing is sent that writes.
type forge struct {
	scm.Repository
	branches *repo.Overlay
	objects  objects
	by       func() repo.Signature

	open     []scm.PullRequest            // nil: not read yet
	closed   map[string][]scm.PullRequest // of the forge, by head
	ended    map[string][]scm.PullRequest // closed or merged here, newest first
	next     int
	statuses map[string]scm.Check // of ours, by commit
	mutex    sync.Mutex
	checks   map[string][]scm.Check
	reviews  map[int][]scm.Review
	rules    map[string]scm.Rules
}

func newForge(of scm.Repository, branches *repo.Overlay, written objects, by func() repo.Signature) *forge {
	return &forge{
		Repository: of, branches: branches, objects: written, by: by, next: firstNumber,
		closed: map[string][]scm.PullRequest{}, ended: map[string][]scm.PullRequest{},
		statuses: map[string]scm.Check{}, checks: map[string][]scm.Check{}, reviews: map[int][]scm.Review{}, rules: map[string]scm.Rules{},
	}
}

// Info implements scm.Repository.
func (f *forge) Info() scm.Info {
	info := f.Repository.Info()
	info.MayPush = true // to the copy
	return info
}

// Features implements scm.Repository. Comments are neither read nor written.
func (f *forge) Features() scm.Features {
	features := f.Repository.Features()
	features.Comments = false
	return features
}

// PullRequests implements scm.Repository.
func (f *forge) PullRequests() scm.PullRequests { return pullRequests{f} }

// Signals implements scm.Repository.
func (f *forge) Signals() scm.Signals { return signals{f.Repository.Signals(), f} }

// Rules implements scm.Ruled.
func (f *forge) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	ruled, can := f.Repository.(scm.Ruled)
	if !can {
		return scm.Rules{}, nil
	}
	return once(f, f.rules, branch, func() (scm.Rules, error) { return ruled.Rules(ctx, branch) })
}

// Unpushable implements scm.HeadRuled.
func (f *forge) Unpushable(ctx context.Context, branch string) (string, error) {
	if ruled, can := f.Repository.(scm.HeadRuled); can {
		return ruled.Unpushable(ctx, branch)
	}
	return "", nil
}

// Conflicts implements scm.Conflicting.
func (f *forge) Conflicts(ctx context.Context, number int) (bool, error) {
	if conflicting, can := f.Repository.(scm.Conflicting); can && number < firstNumber {
		return conflicting.Conflicts(ctx, number)
	}
	return false, nil
}

// HeadDeleted implements scm.Deletions.
func (f *forge) HeadDeleted(ctx context.Context, number int) (time.Time, error) {
	if deletions, can := f.Repository.(scm.Deletions); can && number < firstNumber {
		return deletions.HeadDeleted(ctx, number)
	}
	return time.Time{}, nil
}

// Timeline implements scm.Timelines.
func (f *forge) Timeline(ctx context.Context, number int) ([]scm.TimelineEvent, error) {
	if timelines, can := f.Repository.(scm.Timelines); can && number < firstNumber {
		return timelines.Timeline(ctx, number)
	}
	return nil, nil
}

// MergedAs implements scm.Merges.
func (f *forge) MergedAs(ctx context.Context, commit string) ([]scm.PullRequest, error) {
	if merges, can := f.Repository.(scm.Merges); can {
		return merges.MergedAs(ctx, commit)
	}
	return nil, nil
}

// Ready implements scm.Readiness.
func (f *forge) Ready(ctx context.Context, number int) (bool, error) {
	if readiness, can := f.Repository.(scm.Readiness); can && number < firstNumber {
		return readiness.Ready(ctx, number)
	}
	return false, nil
}

// Pushed implements scm.Pushes.
func (f *forge) Pushed(ctx context.Context, branch string, since time.Time) ([]scm.Push, error) {
	if pushes, can := f.Repository.(scm.Pushes); can {
		return pushes.Pushed(ctx, branch, since)
	}
	return nil, nil
}

// IsBot implements scm.Bots.
func (f *forge) IsBot(ctx context.Context, person identity.User) (bool, error) {
	if bots, can := f.Repository.(scm.Bots); can {
		return bots.IsBot(ctx, person)
	}
	return person.Bot, nil
}

// once asks a question once.
func once[K comparable, V any](f *forge, answers map[K]V, key K, ask func() (V, error)) (V, error) {
	f.mutex.Lock()
	answer, known := answers[key]
	f.mutex.Unlock()
	if known {
		return answer, nil
	}
	answer, err := ask()
	if err == nil {
		f.mutex.Lock()
		answers[key] = answer
		f.mutex.Unlock()
	}
	return answer, err
}

// pullRequests are those of a forge.
type pullRequests struct{ f *forge }

// Open implements scm.PullRequests. It lists only those of promoter's branches: nothing is
// decided about the others.
func (p pullRequests) Open(ctx context.Context) ([]scm.PullRequest, error) {
	if p.f.open == nil {
		open, err := p.f.Repository.PullRequests().Open(ctx)
		if err != nil {
			return nil, err
		}
		p.f.open = slices.DeleteFunc(slices.Clone(open), func(pr scm.PullRequest) bool {
			_, ours := promotion.ParseHead(pr.Head.Branch)
			return !ours
		})
		p.f.open = slices.Grow(p.f.open, 1) // not nil
	}
	refs, err := p.f.branches.Refs(ctx)
	if err != nil {
		return nil, err
	}
	listed := slices.Clone(p.f.open)
	for i := range listed {
		if head := refs.Branches[listed[i].Head.Branch]; head != "" && listed[i].Head.Own {
			listed[i].Head.Commit = head
		}
	}
	return listed, nil
}

// Closed implements scm.PullRequests.
func (p pullRequests) Closed(ctx context.Context, head string, limit int) ([]scm.PullRequest, error) {
	ask := func() ([]scm.PullRequest, error) { return p.f.Repository.PullRequests().Closed(ctx, head, limit) }
	closed, err := once(p.f, p.f.closed, head, ask)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(p.f.ended[head], closed)
	return all[:min(len(all), limit)], nil
}

// Create implements scm.PullRequests.
func (p pullRequests) Create(ctx context.Context, draft scm.Draft) (scm.PullRequest, error) {
	open, err := p.Open(ctx)
	if err != nil {
		return scm.PullRequest{}, err
	}
	if slices.ContainsFunc(open, func(pr scm.PullRequest) bool { return pr.Head.Branch == draft.Head && pr.Base == draft.Base }) {
		return scm.PullRequest{}, fault.New(fault.Conflict, "a pull request from %s is open", draft.Head)
	}
	refs, err := p.f.branches.Refs(ctx)
	if err != nil {
		return scm.PullRequest{}, err
	}
	pr := scm.PullRequest{
		Number: p.f.next, Title: draft.Title, Body: draft.Body, Author: p.f.Info().Self,
		Base: draft.Base, Draft: draft.AsDraft, Labels: draft.Labels,
		Head: scm.Head{Branch: draft.Head, Commit: refs.Branches[draft.Head], Own: true}, Opened: p.f.by().When, State: scm.StateOpen,
	}
	p.f.next++
	p.f.open = append(p.f.open, pr)
	return pr, nil
}

// Edit implements scm.PullRequests.
func (p pullRequests) Edit(_ context.Context, number int, edit scm.Edit) error {
	i := slices.IndexFunc(p.f.open, func(pr scm.PullRequest) bool { return pr.Number == number })
	if i < 0 {
		return fault.New(fault.NotFound, "pull request %d is not open", number)
	}
	pr := &p.f.open[i]
	if edit.Title != nil {
		pr.Title = *edit.Title
	}
	if edit.Body != nil {
		pr.Body = *edit.Body
	}
	if edit.Closed != nil && *edit.Closed {
		return p.f.close(*pr, scm.StateClosed, scm.Merged{})
	}
	return nil
}

// close moves a pull request to the closed ones.
func (f *forge) close(pr scm.PullRequest, state scm.PullRequestState, merged scm.Merged) error {
	if head, err := f.objects.Commit(pr.Head.Commit); err == nil {
		pr.Head.Message = head.Message
	} else if err := repo.IgnoreNotFound(err); err != nil {
		return err
	}
	pr.State = state
	pr.Merged = merged
	pr.ClosedAt = f.by().When
	pr.Closer = f.Info().Self
	f.open = slices.DeleteFunc(f.open, func(other scm.PullRequest) bool { return other.Number == pr.Number })
	f.ended[pr.Head.Branch] = slices.Insert(f.ended[pr.Head.Branch], 0, pr)
	return nil
}

// maxFile is how much of a file is read to merge it: more than promoter edits.
const maxFile = 64 << 20

// Merge implements scm.PullRequests. The base gets one commit with the files of the head.
func (p pullRequests) Merge(ctx context.Context, number int, merge scm.Merge) (scm.Merged, error) {
	open, err := p.Open(ctx)
	if err != nil {
		return scm.Merged{}, err
	}
	i := slices.IndexFunc(open, func(pr scm.PullRequest) bool { return pr.Number == number })
	if i < 0 || open[i].Head.Commit != merge.Head {
		return scm.Merged{}, fault.New(fault.Conflict, "pull request %d has another head", number)
	}
	pr := open[i]
	head, err := p.f.objects.Commit(pr.Head.Commit)
	if err != nil {
		return scm.Merged{}, err
	}
	if len(head.Parents) != 1 {
		return scm.Merged{}, fault.New(fault.Unauthorized, "the head of pull request %d is not one commit", number)
	}
	changed, err := p.f.objects.Changed(head.Parents[0], head.ID)
	if err != nil {
		return scm.Merged{}, err
	}
	draft := repo.Draft{By: p.f.by(), Files: map[string][]byte{}, Trailers: head.Trailers}
	draft.Message, _, _ = strings.Cut(head.Message, "\n")
	for _, path := range changed {
		content, err := p.f.objects.Read(head.ID, path, maxFile)
		if err := repo.IgnoreNotFound(err); err != nil {
			return scm.Merged{}, err
		}
		draft.Files[path] = content
	}
	refs, err := p.f.branches.Refs(ctx)
	if err != nil {
		return scm.Merged{}, err
	}
	draft.Parent = refs.Branches[pr.Base]
	id, err := p.f.objects.Write(draft)
	if err != nil {
		return scm.Merged{}, err
	}
	if err := p.f.branches.Push(ctx, repo.Update{Branch: pr.Base, Old: draft.Parent, New: id}); err != nil {
		return scm.Merged{}, err
	}
	merged := scm.Merged{Commit: id, At: p.f.by().When}
	return merged, p.f.close(pr, scm.StateMerged, merged)
}

// signals are those of a forge, and none for what only the simulation has.
type signals struct {
	scm.Signals
	f *forge
}

// Checks implements scm.Signals.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	var checks []scm.Check
	if !s.f.objects.written[commit] {
		var err error
		checks, err = once(s.f, s.f.checks, commit, func() ([]scm.Check, error) { return s.Signals.Checks(ctx, commit) })
		if err != nil {
			return checks, err
		}
	}
	s.f.mutex.Lock()
	defer s.f.mutex.Unlock()
	if own, set := s.f.statuses[commit]; set {
		checks = append(slices.DeleteFunc(slices.Clone(checks), func(c scm.Check) bool { return c.Own && c.Name == own.Name }), own)
	}
	return checks, nil
}

// Reviews implements scm.Signals.
func (s signals) Reviews(ctx context.Context, number int) ([]scm.Review, error) {
	if number >= firstNumber {
		return nil, nil
	}
	return once(s.f, s.f.reviews, number, func() ([]scm.Review, error) { return s.Signals.Reviews(ctx, number) })
}

// SetStatus implements scm.Signals.
func (s signals) SetStatus(_ context.Context, commit string, status scm.Status) error {
	s.f.mutex.Lock()
	defer s.f.mutex.Unlock()
	s.f.statuses[commit] = scm.Check{
		Name:        cmp.Or(status.Context, promotion.StatusContext),
		State:       status.State,
		Description: status.Description,
		At:          s.f.by().When,
		Own:         true,
	}
	return nil
}
