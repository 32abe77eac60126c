package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/store"
)

// moments say for one look at a repository what answers of registries count: those
// that were asked for after the last thing that makes them old.
type moments struct {
	file  *serverconfig.Config
	store *store.Store
	lane  identity.RepositoryKey

	mutex sync.Mutex
	known *store.Freshness // nil: not asked yet
}

// newMoments is nil where there is no database: only answers of the round count then.
func newMoments(file *serverconfig.Config, kept *store.Store, lane identity.RepositoryKey) *moments {
	if kept == nil {
		return nil
	}
	return &moments{file: file, store: kept, lane: lane}
}

// asOf says since when answers about an image count: since the times of its
// schedule came last, it was hinted at, or all of the repository was to be read anew,
// whichever was last.
func (m *moments) asOf(ctx context.Context, ask engine.VersionRequest) (time.Time, error) {
	if m == nil {
		return time.Time{}, nil
	}
	known, err := m.ofLane(ctx)
	if err != nil {
		return time.Time{}, err
	}
	hinted, err := m.store.LastImageEvent(ctx, ask.Repository)
	if err != nil {
		return time.Time{}, err
	}
	fired, ok := known.Fired[timesOf(m.file, ask.Component.Poll, ask.Repository).String()]
	if !ok { // it has none of its own, or a new one that begins with the last poll
		fired = known.Fired[store.Poll]
	}
	return latest(fired, hinted, known.Refreshed), nil
}

func (m *moments) ofLane(ctx context.Context) (store.Freshness, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.known != nil {
		return *m.known, nil
	}
	known, err := m.store.Freshness(ctx, string(m.lane))
	if err == nil {
		m.known = &known
	}
	return known, err
}

// refresh makes all answers about a repository's images old, also for the rest of
// this look.
func (m *moments) refresh(ctx context.Context) error {
	if m == nil {
		return nil
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.known = nil
	return m.store.RequestRefresh(ctx, string(m.lane))
}

// refresher has registries asked again about what a config follows.
func refresher(ctx context.Context, session *connect.Session, m *moments, log *slog.Logger) func(*config.Config) {
	return func(c *config.Config) {
		session.ForgetAnswers(func(asked image.Repository) bool {
			return slices.ContainsFunc(c.Components, func(one config.Component) bool { return one.Pattern.Match(asked) })
		})
		if err := m.refresh(ctx); err != nil {
			log.WarnContext(ctx, "registries are not asked again", slog.String("key", string(m.lane)), slog.Any("error", err))
		}
	}
}

// timesOf is when the tags of an image are read: as its component says, else as the
// first entry of the file does that names the image and has times. The zero times are
// those of the poll, which nothing is read more often than.
func timesOf(file *serverconfig.Config, component schedule.Times, asked image.Repository) schedule.Times {
	times := component
	for _, entry := range file.Registries {
		if times.IsZero() && !entry.Poll.IsZero() && connect.Covers(entry, asked) {
			times = entry.Poll
		}
	}
	return notOftener(file, times)
}

// notOftener takes an interval for the poll that is not longer than that.
func notOftener(file *serverconfig.Config, times schedule.Times) schedule.Times {
	if every := times.Every(); every > 0 && every <= file.Poll {
		return schedule.Times{}
	}
	return times
}

// latest is the last of some times.
func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
