package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/queue"
	"promoter/internal/service/history"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// Borrowed is a repository that is open for something beside its reconciliations. The lock of
// its mirror keeps both apart.
type Borrowed struct {
	Workspace  *workspace.Workspace
	Repository *connect.Repository
	Session    *connect.Session
	Host, Name string // of the web pages, as they are stored
}

// Limits of requests that borrow a repository: each opens it, and may query registries.
const (
	// maxBorrowed is how many repositories are borrowed at the same time.
	maxBorrowed = 4
	// borrowTimeout is less than the server allows for a response. A client tries again,
	// which repeats nothing.
	borrowTimeout = 45 * time.Second
)

// Borrow opens one of the repositories of the service for one function. The choice gets those
// that could be opened. Where a reconciliation or too many other requests keep it waiting, the
// error is Temporary.
func (s *Service) Borrow(
	ctx context.Context, choose func([]*connect.Repository) (*connect.Repository, error), do func(context.Context, Borrowed) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, borrowTimeout)
	defer cancel()
	select {
	case s.borrowing <- struct{}{}:
		defer func() { <-s.borrowing }()
	case <-ctx.Done():
		return fault.New(fault.Temporary, "too many requests work on repositories at the same time")
	}
	err := s.borrow(ctx, choose, do)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fault.Wrap(fault.Temporary, err) // a reconciliation may have the repository
	}
	return err
}

func (s *Service) borrow(
	ctx context.Context, choose func([]*connect.Repository) (*connect.Repository, error), do func(context.Context, Borrowed) error,
) error {
	current, release, err := s.refresher.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	chosen, err := choose(slices.Collect(maps.Values(current.repositories)))
	if err != nil {
		return err
	}
	fresh := chosen.Reopen(ctx)
	if fresh.Err != nil {
		return fresh.Err
	}
	if fresh.Key() != chosen.Key() {
		return fault.New(fault.Temporary, "another repository has the name %s now: the next poll finds it", chosen.Name)
	}
	stored := history.RepositoryOf(fresh)
	options := workspace.Options{Log: loggerOf(s.log, fresh), Freshness: s.store, Seals: sealMemory{s.store, stored.Key}}
	return workspace.Try(ctx, current.session, fresh, options, func(ctx context.Context, w *workspace.Workspace) error {
		return do(ctx, Borrowed{Workspace: w, Repository: fresh, Session: current.session, Host: stored.Host, Name: stored.Name})
	})
}

// TriggerOne lets one of the repositories of the service be reconciled soon, and returns it as it is stored.
func (s *Service) TriggerOne(
	ctx context.Context, choose func([]*connect.Repository) (*connect.Repository, error),
) (stored store.Repository, err error) {
	current, release, err := s.refresher.acquire(ctx)
	if err != nil {
		return stored, err
	}
	defer release()
	chosen, err := choose(slices.Collect(maps.Values(current.repositories)))
	if err != nil {
		return stored, err
	}
	return history.RepositoryOf(chosen), s.Trigger(ctx, string(chosen.Key()))
}

// Trigger lets a repository be reconciled soon.
func (s *Service) Trigger(ctx context.Context, key string) error {
	return s.queue.Trigger(ctx, queue.Trigger{Kind: KindRepository, Key: key, Urgent: true})
}
