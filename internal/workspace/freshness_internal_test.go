package workspace

import (
	"context"
	"testing"
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/event"
	"promoter/internal/image"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/observe"
	"promoter/internal/schedule"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

const (
	freshKey  = "github.com/7"
	freshPoll = 2 * time.Hour
)

var freshNoon = time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)

// freshWith returns the freshness of a repository for which something was read.
func freshWith(known store.Freshness) *freshness {
	return &freshness{server: &serverfile.Server{File: &serverconfig.Config{Poll: freshPoll}}, store: &store.Store{}, key: freshKey, known: &known}
}

func webRepository(t *testing.T) image.Repository {
	t.Helper()
	web, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	return web
}

func webPattern(t *testing.T) image.Pattern {
	t.Helper()
	pattern, err := image.ParsePattern("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	return pattern
}

// requestOf asks for the versions of web, in its own schedule if it has one.
func requestOf(t *testing.T, poll string) observe.VersionRequest {
	t.Helper()
	component := config.Component{Name: "web", Pattern: webPattern(t)}
	if poll != "" {
		times, err := schedule.ParseTimes("every " + poll)
		if err != nil {
			t.Fatal(err)
		}
		component.Poll = times
	}
	return observe.VersionRequest{Component: component, Repository: webRepository(t)}
}

// Answers are valid since the last of what makes them stale: the schedule of the image or its turn,
// the start of a process, and a refresh.
func TestFreshness_since(t *testing.T) {
	t.Parallel()
	name, every := webRepository(t).String(), requestOf(t, "6h").Component.Poll.String()
	turn := schedule.TurnsOf(freshKey, 3, freshPoll).Last(name, freshNoon)
	early, late := turn.Add(-time.Hour), turn.Add(time.Minute)
	hourly := func(at time.Time) time.Time { return schedule.LastTurn(name, movedWithin, at) }
	tests := []struct {
		name        string
		poll        string
		known       store.Freshness
		asOf, moved time.Time
	}{
		{"the turn in the poll", "", store.Freshness{}, turn, hourly(turn)},
		{"a process that started before", "", store.Freshness{Fired: map[string]time.Time{store.Start: early}}, turn, hourly(turn)},
		{"a process that started after it", "", store.Freshness{Fired: map[string]time.Time{store.Start: late}}, late, hourly(late)},
		{"a schedule that did not fire yet", "6h", store.Freshness{}, turn, hourly(turn)},
		{"a schedule", "6h", store.Freshness{Fired: map[string]time.Time{every: early}}, early, hourly(early)},
		{
			"a schedule, whenever a process started", "6h",
			store.Freshness{Fired: map[string]time.Time{every: early, store.Start: late}},
			early, hourly(early),
		},
		{"a refresh", "", store.Freshness{Refreshed: late}, late, late},
		{"a refresh before", "", store.Freshness{Refreshed: early.Add(-2 * time.Hour)}, turn, hourly(turn)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.known.Now, test.known.Images = freshNoon, 3
			got, err := freshWith(test.known).since(t.Context(), requestOf(t, test.poll))
			if err != nil || !got.asOf.Equal(test.asOf) || !got.moved.Equal(test.moved) || !got.kept.IsZero() {
				t.Errorf("%+v, %v, want %s and %s", got, err, test.asOf, test.moved)
			}
		})
	}
}

// Events and the subscriptions of other repositories are read from the database once in a
// reconciliation, and again after a refresh.
func TestFreshness_ofTheDatabase(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		all := store.New(db)
		fresh := func() *freshness {
			f := freshWith(store.Freshness{})
			f.store, f.known = all, nil
			return f
		}
		update := func(change func(ctx context.Context, tx *database.Tx) error) {
			t.Helper()
			if err := db.Update(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		since := func(f *freshness) validity {
			t.Helper()
			got, err := f.since(t.Context(), requestOf(t, ""))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		follow := func(repository string) {
			t.Helper()
			update(func(ctx context.Context, tx *database.Tx) error {
				_, err := all.SetSubscriptions(ctx, tx, repository, []store.Subscription{{Image: webPattern(t)}})
				return err
			})
		}
		f, name := fresh(), webRepository(t).String()
		if _, known := f.last(); known {
			t.Error("something is known before it is read")
		}
		follow(freshKey)
		alone := since(f)
		known, isKnown := f.last()
		if own := schedule.TurnsOf(freshKey, 1, freshPoll).Last(name, known.Now); !isKnown || !alone.asOf.Equal(own) {
			t.Errorf("alone: %+v, want %s", alone, own)
		}
		follow("github.com/8")
		if again := since(f); again != alone {
			t.Errorf("it is read twice in a reconciliation: %+v, %+v", alone, again)
		}
		f = fresh()
		shared := since(f)
		known, _ = f.last()
		if turn := schedule.LastTurn(name, freshPoll, known.Now); !shared.asOf.Equal(turn) {
			t.Errorf("shared: %+v, want %s", shared, turn)
		}
		update(func(ctx context.Context, tx *database.Tx) error {
			return all.ImageEvents.Record(ctx, tx, []event.Image{{Host: "quay.io", Path: "acme/web"}})
		})
		f = fresh()
		event := since(f)
		known, _ = f.last()
		if at := known.Event(webRepository(t)); at.IsZero() || !event.asOf.Equal(at) || !event.moved.Equal(at) {
			t.Errorf("after an event at %s: %+v", at, event)
		}
		for range 2 {
			if err := f.refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, known := f.last(); known {
				t.Error("what was read is known after a refresh")
			}
		}
		refreshed := since(f)
		if known, _ = f.last(); known.Refreshed.IsZero() || !refreshed.asOf.Equal(known.Refreshed) {
			t.Errorf("after a refresh: %+v", refreshed)
		}
	})
}

// The events count that came since the poll before, or in the time in which digests are read again.
func TestFreshness_eventsOfBothIntervals(t *testing.T) {
	t.Parallel()
	for poll, age := range map[time.Duration]time.Duration{time.Minute: 50 * time.Minute, 3 * time.Hour: 2 * time.Hour} {
		now := freshNoon
		options := databasetest.Kinds()[0].New(t) // SQLite, which has the clock of the process
		options.Now = func() time.Time { return now }
		db := databasetest.Open(t, options)
		all := store.New(db)
		if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			return all.ImageEvents.Record(ctx, tx, []event.Image{{Host: "quay.io", Path: "acme/web"}})
		}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(age)
		f := freshWith(store.Freshness{})
		f.store, f.known, f.server.File.Poll = all, nil, poll
		known, err := f.read(t.Context())
		if err != nil || !known.Event(webRepository(t)).Equal(freshNoon) {
			t.Errorf("poll %s: the event was at %s, %v", poll, known.Event(webRepository(t)), err)
		}
	}
}

func TestFreshness_databaseAway(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Kinds()[0].New(t))
	f := freshWith(store.Freshness{})
	f.store, f.known = store.New(db), nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := f.since(ctx, requestOf(t, "")); err == nil {
		t.Errorf("%+v", got)
	}
	if _, known := f.last(); known {
		t.Error("what could not be read is known")
	}
	memory := NewDecisions(1 << 20)
	memory.kept.Put(freshKey, keptDecisions{entry: &cache.Entry{}}, 1)
	if entry, _, err := (decisionCache{all: memory, key: freshKey, fresh: f}).Load(ctx); err == nil {
		t.Errorf("the kept decisions are %v", entry)
	}
}

// Without a store, answers are valid for the session, if it keeps any; digests of listed tags are
// read again each hour and after a refresh.
func TestFreshness_withoutStore(t *testing.T) {
	t.Parallel()
	since := func(f *freshness) validity {
		t.Helper()
		got, err := f.since(t.Context(), requestOf(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	now := freshNoon.Add(time.Minute)
	server := &serverfile.Server{File: &serverconfig.Config{Poll: freshPoll}, Now: func() time.Time { return now }}
	if got := since(&freshness{server: server}); got != (validity{}) {
		t.Errorf("a session that keeps nothing: %+v", got)
	}
	f := &freshness{server: server, kept: freshNoon}
	want := validity{kept: freshNoon, moved: schedule.LastTurn(webRepository(t).String(), movedWithin, freshNoon)}
	for range 2 {
		if got := since(f); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for range 2 {
		if err := f.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want.moved = now
	if got := since(f); got != want {
		t.Errorf("after a refresh: %+v, want %+v", got, want)
	}
}

// An answer is stale after a turn of the image: in the poll, or in that of the repository.
func TestFreshness_staleAfterATurn(t *testing.T) {
	t.Parallel()
	web := webRepository(t)
	const images = 400 // a repository has two turns for them
	own := schedule.TurnsOf(freshKey, images, freshPoll)
	byName := schedule.LastTurn(web.String(), freshPoll, freshNoon)
	ofImage := own.Last(web.String(), freshNoon)
	ofOthers := ofImage.Add(freshPoll / 2)
	for name, test := range map[string]struct {
		turn time.Time
		want bool
	}{
		"in the poll":                 {byName, true},
		"of the repository":           {ofImage, true},
		"of the repository, another":  {ofOthers, false},
		"between":                     {ofImage.Add(time.Minute), false},
		"of the repository, the next": {ofImage.Add(freshPoll), true},
	} {
		then, now := store.Freshness{Images: images, Now: test.turn.Add(-1)}, store.Freshness{Images: images, Now: test.turn.Add(time.Second)}
		if got := freshWith(now).staleAt(now, then)(web); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
		if freshWith(now).staleAt(now, now)(web) {
			t.Errorf("%s: it is stale at once", name)
		}
	}
	if !own.Passed(ofOthers.Add(-1), ofOthers) {
		t.Error("the other images have no turn then")
	}
}
