package enginetest

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

type pulls struct{ *Forge }

// Open implements scm.PullRequests.
func (f pulls) Open(context.Context) ([]scm.PullRequest, error) {
	if err := f.failing("list open"); err != nil {
		return nil, err
	}
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
	if err := f.failing("list closed"); err != nil {
		return nil, err
	}
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
		case p.State == scm.StateOpen && f.forbids(p) != nil:
			return f.forbids(p)
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
