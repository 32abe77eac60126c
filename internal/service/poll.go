package service

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"promoter/internal/queue"
	"promoter/internal/store"
)

// poller triggers all repositories from time to time, so that a lost webhook only delays
// a promotion.
type poller struct {
	refresher *refresher
	schedules schedules
	queue     *queue.Queue
	store     *store.Store
	retries   openRetry
	poll      time.Duration
	now       func() time.Time

	polled atomic.Bool // by this process
}

// handle refreshes and triggers all repositories. It runs again after the poll interval,
// or sooner if a repository could not be opened that a retry may open.
func (p *poller) handle(ctx context.Context, _ queue.Item) (queue.Result, error) {
	age, minimum := p.refresher.age(), min(minRefreshInterval, p.poll/2)
	switch {
	case age == 0 || age >= minimum:
		if err := p.refresher.refresh(ctx, p.now()); err != nil {
			return queue.Result{}, err
		}
	case p.polled.Load():
		// Many events report that repositories come and go. A reconciliation may have
		// refreshed a moment ago, which does not delay a poll that is due.
		if due, err := p.schedules.isPollDue(ctx); err != nil || !due {
			return queue.Result{Next: p.now().Add(minimum - age)}, err
		}
	}
	current, release, err := p.refresher.acquire(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	// Webhooks were lost before the start of a process, so its first poll reads all tags.
	next, err := p.schedules.firePoll(ctx, !p.polled.Load())
	if err != nil {
		return queue.Result{}, err
	}
	p.polled.Store(true)
	triggers := repositoryTriggers(slices.Collect(maps.Keys(current.repositories)))
	for i := range triggers {
		triggers[i].Tenant = current.repositories[triggers[i].Key].Tenant()
	}
	if err := p.queue.Trigger(ctx, append(triggers, current.onboardings()...)...); err != nil {
		return queue.Result{}, err
	}
	next = earlier(next, p.retries.next(current, p.now(), minimum, p.poll))
	return queue.Result{Next: next}, p.triggerRemoved(ctx, current)
}

// triggerRemoved triggers the stored repositories that the refresh does not contain: the
// reconciliation removes them, with the work that waits for them. A repository that only
// could not be opened this time is kept.
func (p *poller) triggerRemoved(ctx context.Context, current *refresh) error {
	stored, err := p.store.Repositories(ctx)
	if err != nil {
		return err
	}
	var removed []string
	for _, repository := range stored {
		if _, ok := current.repositories[repository.Key]; !ok && current.unopened(repository.Forge) == nil {
			removed = append(removed, repository.Key)
		}
	}
	return p.queue.Trigger(ctx, repositoryTriggers(removed)...)
}

// repositoryTriggers triggers repositories at once.
func repositoryTriggers(keys []string) []queue.Trigger {
	var triggers []queue.Trigger
	for _, key := range keys {
		triggers = append(triggers, queue.Trigger{Kind: KindRepository, Key: key})
	}
	return triggers
}
