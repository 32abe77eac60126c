package store

import (
	"context"
	"slices"
	"time"

	"promoter/internal/database"
	"promoter/internal/image"
)

// Schedules of the server. The names of all others are cron expressions.
const (
	Poll  = "poll"  // reads which repositories there are
	Start = "start" // of a process, which reads all images
	turn  = "turn"  // until when repositories were triggered at their turns
)

// Schedule is the last time of a schedule.
type Schedule struct {
	Name         string
	FiredAt      time.Time
	Repositories int // that use it
}

// Schedules are the times at which repositories are reconciled.
type Schedules struct{ db *database.DB }

// All lists all schedules by name.
func (s Schedules) All(ctx context.Context) ([]Schedule, error) {
	return viewRows(ctx, s.db, func(scan database.Scan, one *Schedule) error {
		return scan(&one.Name, &one.FiredAt, &one.Repositories)
	}, "select name, fired_at, (select count(*) from repository_schedule where schedule = name) from schedule order by name")
}

// Set replaces the schedules of a repository, and returns those that are new
// for it. A new schedule starts with the last poll: what was read then is used.
func (s Schedules) Set(ctx context.Context, tx *database.Tx, repository string, names []string) (added []string, err error) {
	known, err := readTexts(ctx, tx, "select schedule from repository_schedule where repository = ?", repository)
	if err != nil {
		return nil, err
	}
	for _, name := range known {
		if slices.Contains(names, name) {
			continue
		}
		if _, err := tx.Exec(ctx, "delete from repository_schedule where repository = ? and schedule = ?", repository, name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		added = append(added, name)
		_, err := tx.Exec(ctx,
			"insert into repository_schedule (repository, schedule) values (?, ?) on conflict do nothing", repository, name)
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec(ctx, `insert into schedule (name, fired_at)
values (?, coalesce((select fired_at from schedule where name = ?), @now)) on conflict do nothing`, name, Poll)
		if err != nil {
			return nil, err
		}
	}
	return added, nil
}

// Fire records that a schedule fires, if it is due or force is set, and returns whether
// it did and when it is due next. The function due returns when it is due after the last
// time. A schedule that never fired is due. Of concurrent callers, one fires it.
func (s Schedules) Fire(
	ctx context.Context, tx *database.Tx, name string, force bool, due func(last time.Time) time.Time,
) (fired bool, next time.Time, err error) {
	_, err = tx.Exec(ctx, "insert into schedule (name, fired_at) values (?, 0) on conflict do nothing", name)
	if err != nil {
		return false, time.Time{}, err
	}
	last, now, err := lastFired(ctx, tx, name)
	if err != nil {
		return false, time.Time{}, err
	}
	if next = due(last); !force && !last.IsZero() && next.After(now) {
		return false, next, nil
	}
	changed, err := tx.Exec(ctx, "update schedule set fired_at = ? where name = ? and fired_at = ?", now, name, last)
	return changed > 0, due(now), err
}

// lastFired returns when a schedule fired last, and the present time.
func lastFired(ctx context.Context, tx *database.Tx, name string) (last, now time.Time, err error) {
	err = tx.One(ctx, []any{&last, &now}, "select fired_at, @now from schedule where name = ?", name)
	return last, now, err
}

// Advance returns until when repositories were triggered at their turns, and the present time,
// until which the caller triggers them now. Of concurrent callers, each gets another part
// of the time. The first one gets none.
func (s Schedules) Advance(ctx context.Context, tx *database.Tx) (after, until time.Time, err error) {
	if _, err = tx.Exec(ctx, "insert into schedule (name, fired_at) values (?, @now) on conflict do nothing", turn); err != nil {
		return time.Time{}, time.Time{}, err
	}
	after, until, err = lastFired(ctx, tx, turn)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	changed, err := tx.Exec(ctx, "update schedule set fired_at = ? where name = ? and fired_at = ?", until, turn, after)
	if err != nil || changed == 0 { // another one has it
		after = until
	}
	return after, until, err
}

// Images returns how many images, or patterns of images, each repository follows, by its key.
func (s Schedules) Images(ctx context.Context, tx *database.Tx) (map[string]int, error) {
	return readPairs[string, int](ctx, tx, `select key, count(subscription.repository) from repository
left join subscription on subscription.repository = key and kind = ? group by key`, imageSubscription)
}

// Repositories lists the keys of the repositories that use a schedule.
func (s Schedules) Repositories(ctx context.Context, tx *database.Tx, name string) ([]string, error) {
	return readTexts(ctx, tx, "select repository from repository_schedule where schedule = ? order by repository", name)
}

// DeleteUnused deletes a schedule that no repository uses.
func (s Schedules) DeleteUnused(ctx context.Context, tx *database.Tx, name string) error {
	_, err := tx.Exec(ctx,
		"delete from schedule where name = ? and not exists (select 1 from repository_schedule where schedule = ?)", name, name)
	return err
}

// RequestRefresh records that cached answers for a repository must not be used.
func (s *Store) RequestRefresh(ctx context.Context, repository string) error {
	return exec(ctx, s.db, `insert into refresh (repository, requested_at) values (?, @now)
on conflict (repository) do update set requested_at = excluded.requested_at`, repository)
}

// Freshness is what makes cached answers about the images of a repository stale.
type Freshness struct {
	Fired     map[string]time.Time // by the name of the schedule
	Refreshed time.Time            // zero: never
	Now       time.Time            // of the database
	Images    int                  // that the repository follows, or patterns of them

	shared map[subscriptionRow]bool // those that other repositories follow too
	from   time.Time                // before which no event makes an answer stale
	events *recentEvents            // nil: there are none
}

// Event returns the time of the last event of an image; zero: there was none since a schedule
// or a refresh that is in the Freshness.
func (f Freshness) Event(r image.Repository) time.Time {
	if f.events == nil {
		return time.Time{}
	}
	last := f.events.at(hostPath{r.Host(), r.Path()})
	if path := f.events.at(hostPath{"", r.Path()}); path.After(last) {
		last = path
	}
	if last.Before(f.from) {
		return time.Time{}
	}
	return last
}

// Shares reports whether other repositories follow the same image, or pattern of images.
func (f Freshness) Shares(image image.Pattern) bool {
	return f.shared[Subscription{Image: image}.row()]
}

// since returns the time before which an event makes no answer stale, of those that are at
// most as old, or that are valid since a schedule.
func (f Freshness) since(age time.Duration) time.Time {
	oldest := f.Now.Add(-age)
	for name, at := range f.Fired {
		if name != Start && at.Before(oldest) {
			oldest = at
		}
	}
	if f.Refreshed.After(oldest) {
		return f.Refreshed
	}
	return oldest
}

// followedImages are the images that a repository follows, and whether others do too.
const followedImages = `
select host, path, pattern, case when exists (
	select 1 from subscription as other where other.kind = mine.kind and other.path = mine.path and other.host = mine.host
		and other.pattern = mine.pattern and other.repository <> mine.repository
) then 1 else 0 end from subscription as mine where kind = ? and repository = ?`

// Freshness returns the present times for a repository, with the events that make answers of
// an age stale. Its queries do not depend on how many images there are, or had an event.
func (s *Store) Freshness(ctx context.Context, repository string, age time.Duration) (f Freshness, err error) {
	f = Freshness{shared: map[subscriptionRow]bool{}, events: s.recent}
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		f.Fired, err = readPairs[string, time.Time](ctx, tx, `
select name, fired_at from schedule where name = ? or name in (select schedule from repository_schedule where repository = ?)
union all select '', requested_at from refresh where repository = ?`, Start, repository, repository)
		if err != nil {
			return err
		}
		f.Refreshed = f.Fired[""]
		delete(f.Fired, "")
		if err := tx.One(ctx, []any{&f.Now}, "select @now"); err != nil {
			return err
		}
		err = tx.Query(ctx, func(scan database.Scan) error {
			r, shared := subscriptionRow{Kind: imageSubscription}, 0
			if err := scan(&r.Host, &r.Path, &r.Pattern, &shared); err != nil {
				return err
			}
			f.Images++
			if shared > 0 {
				f.shared[r] = true
			}
			return nil
		}, followedImages, imageSubscription, repository)
		if err != nil {
			return err
		}
		f.from = f.since(age)
		return s.recent.read(ctx, tx, f.from)
	})
	return f, err
}
