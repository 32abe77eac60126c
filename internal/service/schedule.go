package service

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/queue"
	"promoter/internal/schedule"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

// schedules triggers repositories at the times at which their config files read tags,
// and remembers when the poll and each schedule fired. The time is in the database, so
// that several replicas may run the same schedule.
type schedules struct {
	server *serverfile.Server
	db     *database.DB
	queue  *queue.Queue
	store  *store.Store
	log    *slog.Logger
}

// handle triggers the repositories of a schedule if it is due.
func (s schedules) handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	times, err := schedule.ParseTimes(item.Key)
	if err != nil {
		return queue.Result{Forget: true}, nil //nolint:nilerr // another release wrote it in a syntax of its own
	}
	fired := false
	next := time.Time{}
	var keys []string
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		if keys, err = s.store.Schedules.Repositories(ctx, tx, item.Key); err != nil {
			return err
		}
		if len(keys) == 0 {
			return s.store.Schedules.DeleteUnused(ctx, tx, item.Key)
		}
		// It fires no more often than the poll could.
		due := func(last time.Time) time.Time { return latest(times.After(last), s.pollDue(last)) }
		fired, next, err = s.store.Schedules.Fire(ctx, tx, item.Key, false, due)
		if err != nil || !fired {
			return err
		}
		return s.queue.TriggerIn(ctx, tx, repositoryTriggers(keys)...)
	})
	switch {
	case err != nil:
		return queue.Result{}, err
	case len(keys) == 0:
		return queue.Result{Forget: true}, nil
	case fired:
		s.log.InfoContext(ctx, "schedule triggered", slog.String("schedule", item.Key), slog.Int("repositories", len(keys)),
			slog.Time("next", next))
	}
	return queue.Result{Next: next}, nil
}

// jitter is the fraction by which a poll is early or late, so that servers that were
// started together do not poll together.
const jitter = 0.1

// pollDue returns the earliest time of the poll after another.
func (s schedules) pollDue(last time.Time) time.Time {
	return last.Add(time.Duration(float64(s.server.File.Poll) * (1 - jitter)))
}

// firePoll records a poll, and returns when the next one is due. Unless forced, it records
// nothing if the last poll was less than the interval ago. After a forced one, all images
// are read again.
func (s schedules) firePoll(ctx context.Context, force bool) (next time.Time, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		if _, next, err = s.store.Schedules.Fire(ctx, tx, store.Poll, force, s.pollDue); err != nil || !force {
			return err
		}
		_, _, err = s.store.Schedules.Fire(ctx, tx, store.Start, force, s.pollDue)
		return err
	})
	return next.Add(time.Duration(float64(s.server.File.Poll) * 2 * jitter * rand.Float64())), err
}

// isPollDue reports whether the next poll is due, regardless of which replica made the
// last one.
func (s schedules) isPollDue(ctx context.Context) (due bool, err error) {
	known, err := s.store.Schedules.All(ctx)
	for _, one := range known {
		due = due || one.Name == store.Poll && !s.pollDue(one.FiredAt).After(s.server.Now())
	}
	return due, err
}

// set stores the schedules of a repository and starts those that are new for it.
func (s schedules) set(ctx context.Context, tx *database.Tx, key string, c *config.Config) error {
	added, err := s.store.Schedules.Set(ctx, tx, key, schedulesOf(s.server, c))
	if err != nil {
		return err
	}
	var triggers []queue.Trigger
	for _, name := range added {
		triggers = append(triggers, queue.Trigger{Kind: KindSchedule, Key: name})
	}
	return s.queue.TriggerIn(ctx, tx, triggers...)
}

// schedulesOf returns the schedules at which the tags of a repository's images are read
// in addition to the poll. A pattern may match images of any registry entry.
func schedulesOf(s *serverfile.Server, c *config.Config) []string {
	var names []string
	add := func(times schedule.Times) {
		if !times.IsZero() && !slices.Contains(names, times.String()) {
			names = append(names, times.String())
		}
	}
	for _, component := range c.Components {
		repository, exact := component.Pattern.Repository()
		switch {
		case exact:
			add(s.TagSchedule(component.Poll, repository))
		case !component.Poll.IsZero():
			add(serverfile.UnlessPolled(s.File, component.Poll))
		default:
			for _, entry := range s.File.Registries {
				add(serverfile.UnlessPolled(s.File, entry.Poll))
			}
		}
	}
	slices.Sort(names)
	return names
}

// turns triggers each repository at its turns in the poll interval, so that the requests of
// a poll are spread evenly.
type turns struct {
	db    *database.DB
	queue *queue.Queue
	store *store.Store
	poll  time.Duration
}

// The turns that passed are looked up turnChecks times in a poll interval, and no more
// often than every minTurnCheck.
const (
	turnChecks   = 20
	minTurnCheck = 5 * time.Second
)

// handle triggers the repositories with a turn since the last call of any replica.
func (t turns) handle(ctx context.Context, _ queue.Item) (result queue.Result, err error) {
	err = t.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		after, until, err := t.store.Schedules.Advance(ctx, tx)
		if err != nil {
			return err
		}
		result.Next = until.Add(max(t.poll/turnChecks, min(minTurnCheck, t.poll)))
		images, err := t.store.Schedules.Images(ctx, tx)
		if err != nil {
			return err
		}
		var due []string
		for key, n := range images {
			if schedule.TurnsOf(key, n, t.poll).Passed(after, until) {
				due = append(due, key)
			}
		}
		return t.queue.TriggerIn(ctx, tx, repositoryTriggers(due)...)
	})
	return result, err
}
