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

// poller reads from time to time which repositories there are. The first time, it triggers all
// of them, because webhooks were lost before the start of the process; later, only those that
// are new or gone. All others have their turns.
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

// handle refreshes, and triggers repositories. It runs again after the poll interval,
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
	first := !p.polled.Load()
	next, err := p.schedules.firePoll(ctx, first)
	if err != nil {
		return queue.Result{}, err
	}
	p.polled.Store(true)
	stored, err := p.store.Repositories(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	added, removed := compare(current, stored)
	if first {
		added = slices.Collect(maps.Keys(current.repositories))
	}
	triggers := repositoryTriggers(added)
	for i := range triggers {
		triggers[i].Tenant = current.repositories[triggers[i].Key].Tenant()
	}
	triggers = slices.Concat(triggers, current.onboardings(), repositoryTriggers(removed))
	next = earlier(next, p.retries.next(current, p.now(), minimum, p.poll))
	return queue.Result{Next: next}, p.queue.Trigger(ctx, triggers...)
}

// compare returns the repositories of a refresh that are not stored, and the stored ones that
// the refresh does not contain: the reconciliation removes them, with the work that waits for
// them. A repository that only could not be opened this time is kept.
func compare(current *refresh, stored []store.Repository) (added, removed []string) {
	known := map[string]bool{}
	for _, repository := range stored {
		known[repository.Key] = true
		if _, ok := current.repositories[repository.Key]; !ok && current.unopened(repository.Forge) == nil {
			removed = append(removed, repository.Key)
		}
	}
	for key := range current.repositories {
		if !known[key] {
			added = append(added, key)
		}
	}
	return added, removed
}

// repositoryTriggers triggers repositories at once.
func repositoryTriggers(keys []string) []queue.Trigger {
	var triggers []queue.Trigger
	for _, key := range keys {
		triggers = append(triggers, queue.Trigger{Kind: KindRepository, Key: key})
	}
	return triggers
}
