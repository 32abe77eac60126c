package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/database"
	"promoter/internal/queue"
	"promoter/internal/schedule"
	"promoter/internal/store"
)

// kindSchedule is work that comes by times of config files; the key is the times.
const kindSchedule = "schedule"

// fire has the repositories looked at whose schedule came. It may be called at any
// time, and by several replicas: the database says whether the time is over.
func (s *service) fire(ctx context.Context, item queue.Item) (queue.Result, error) {
	times, err := schedule.ParseTimes(item.Key)
	if err != nil {
		return queue.Result{Forget: true}, nil //nolint:nilerr // another release wrote it, in words of its own
	}
	fired, next, lanes := false, time.Time{}, []string(nil)
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		if lanes, err = s.store.RepositoriesOfSchedule(ctx, tx, item.Key); err != nil {
			return err
		}
		if len(lanes) == 0 {
			return s.store.DeleteUnusedSchedule(ctx, tx, item.Key)
		}
		fired, next, err = s.store.Fire(ctx, tx, item.Key, false, func(last time.Time) time.Time { return s.due(times, last) })
		if err != nil || !fired {
			return err
		}
		return s.queue.TriggerIn(ctx, tx, hintsOf(lanes)...)
	})
	switch {
	case err != nil:
		return queue.Result{}, err
	case len(lanes) == 0:
		return queue.Result{Forget: true}, nil
	case fired:
		s.Log.InfoContext(ctx, "a schedule came", slog.String("schedule", item.Key), slog.Int("repositories", len(lanes)), slog.Time("next", next))
	}
	return queue.Result{Next: next}, nil
}

func hintsOf(lanes []string) []queue.Trigger {
	var hints []queue.Trigger
	for _, lane := range lanes {
		hints = append(hints, queue.Trigger{Kind: kindLane, Key: lane})
	}
	return hints
}

// due is when times come after the last one, but not sooner than a poll could.
func (s *service) due(times schedule.Times, last time.Time) time.Time {
	return latest(times.After(last), s.pollDue(last))
}

// jitter is by which part a poll comes earlier or later, so that servers that were
// started together do not stay together.
const jitter = 0.1

// pollDue is the earliest time of the poll that follows one.
func (s *service) pollDue(last time.Time) time.Time {
	return last.Add(time.Duration(float64(s.file.Poll) * (1 - jitter)))
}

// firePoll enters that everything is read anew: at the start of a process, because
// webhooks were lost before it, and else unless that was less than a poll ago, so that
// many repositories that come and go do not have registries asked more often. It
// returns when the next poll comes.
func (s *service) firePoll(ctx context.Context) (next time.Time, err error) {
	start := !s.rounds.started.Load()
	err = s.db.Update(ctx, func(ctx context.Context, tx *database.Tx) error {
		_, next, err = s.store.Fire(ctx, tx, store.Poll, start, s.pollDue)
		return err
	})
	if err == nil {
		s.rounds.started.Store(true)
	}
	return next.Add(time.Duration(float64(s.file.Poll) * 2 * jitter * rand.Float64())), err
}

// isPollDue says whether it is time for the next poll, whoever made the last one. A look
// may have made a round a moment ago, which is no reason to put the poll off.
func (s *service) isPollDue(ctx context.Context) (due bool, err error) {
	known, err := s.store.Schedules(ctx)
	for _, one := range known {
		due = due || one.Name == store.Poll && !s.pollDue(one.FiredAt).After(s.now())
	}
	return due, err
}

// setSchedules keeps which schedules a repository is looked at for, and has those wait
// for their time that are new for it.
func (s *service) setSchedules(ctx context.Context, tx *database.Tx, lane string, names []string) error {
	added, err := s.store.SetSchedules(ctx, tx, lane, names)
	if err != nil {
		return err
	}
	var hints []queue.Trigger
	for _, name := range added {
		hints = append(hints, queue.Trigger{Kind: kindSchedule, Key: name})
	}
	return s.queue.TriggerIn(ctx, tx, hints...)
}

// schedulesOf are the times at which tags of a repository's images are read, beside
// those of the poll. A pattern may find images of any entry.
func schedulesOf(s *connect.Server, c *config.Config) []string {
	var names []string
	add := func(times schedule.Times) {
		if !times.IsZero() && !slices.Contains(names, times.String()) {
			names = append(names, times.String())
		}
	}
	for _, component := range c.Components {
		asked, exact := component.Pattern.Repository()
		switch {
		case exact:
			add(s.TagSchedule(component.Poll, asked))
		case !component.Poll.IsZero():
			add(s.UnlessPolled(component.Poll))
		default:
			for _, entry := range s.File.Registries {
				add(s.UnlessPolled(entry.Poll))
			}
		}
	}
	slices.Sort(names)
	return names
}

// latest is the last of some times.
func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
