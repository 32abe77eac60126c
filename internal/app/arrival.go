package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/queue"
)

// arrivals are the repositories that were looked for because a webhook named them and
// no lane has them.
type arrivals struct {
	mutex sync.Mutex
	seen  map[string]time.Time
}

// maxArrivals bounds what is remembered of them.
const maxArrivals = 10_000

// next says when a repository may be looked for again; zero: now, and that is
// remembered.
func (a *arrivals) next(name string, now time.Time) time.Time {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if at := a.seen[name].Add(betweenRounds); at.After(now) {
		return at
	}
	if a.seen == nil || len(a.seen) >= maxArrivals {
		a.seen = map[string]time.Time{}
	}
	a.seen[name] = now
	return time.Time{}
}

// arriving is the work that a hint about a repository without a lane means. One that
// the file lists, and that could not be opened, is found by the next round. One that
// an App may have been given, or that may have its first config file, is looked for by
// itself: a round asks for every repository. All others are strangers.
func (s *service) arriving(hint event.Event) []queue.Trigger {
	if hint.Kind != event.KindRepository || hint.Repository.Name == "" {
		return nil
	}
	name, quiet := strings.ToLower(hint.Repository.Host+"/"+hint.Repository.Name), max(s.Quiet, 0)
	for _, t := range s.server.Targets {
		if t.Address() == name {
			return []queue.Trigger{{Kind: kindPoll, Key: everything, Debounce: quiet, MaxDebounce: quietTimes * quiet}}
		}
	}
	if hint.Config && s.server.DiscoversOn(hint.Repository.Host) {
		return []queue.Trigger{{Kind: kindArrival, Key: name, Debounce: quiet, MaxDebounce: quietTimes * quiet}}
	}
	return nil
}

// arrive looks for one repository, at most once in the time that a round lasts at
// least. Only one that has a config file is worth a new round.
func (s *service) arrive(ctx context.Context, item queue.Item) (queue.Result, error) {
	if at := s.arrivals.next(item.Key, s.now()); !at.IsZero() {
		return queue.Result{Next: at}, nil
	}
	in, release, err := s.rounds.use(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	defer release()
	has, err := in.session.HasConfigFile(ctx, item.Key)
	log := s.Log.With(slog.String("repository", item.Key))
	switch kind := fault.KindOf(err); {
	case kind == fault.Temporary || kind == fault.RateLimited:
		return queue.Result{}, err
	case err != nil:
		log.InfoContext(ctx, "a webhook named a repository that is not worked on", slog.Any("error", err))
	case !has:
		log.DebugContext(ctx, "a webhook named a repository without a config file")
	default:
		log.InfoContext(ctx, "a repository has a config file now")
		err = s.queue.Trigger(ctx, queue.Trigger{Kind: kindPoll, Key: everything})
		return queue.Result{Forget: err == nil}, err
	}
	return queue.Result{Forget: true}, nil
}
