package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// fill fills a history: many places, and a few of one application, of which one has
// another name now.
func fill(t *testing.T, db *database.DB) {
	t.Helper()
	var all []Event
	add := func(key, name, environment, application string, times int) {
		for range times {
			n := len(all) // each event is one of its own
			all = append(all, Event{
				At: time.Unix(1_700_000_000+int64(n*7919%5000), 0), Repository: key, Name: name, Environment: environment, Application: application, Action: EventOpened, Number: n + 1,
				Snapshot: fmt.Sprint(n), Versions: []EventVersion{{Component: []string{"web", "worker"}[n%2]}},
			})
		}
	}
	for n := range mostPlaces + 2 {
		add(fmt.Sprintf("github.com/%d", n), fmt.Sprintf("github.com/acme/shop-%d", n), "dev", "shop", 2)
	}
	add("github.com/7", "github.com/acme/shop-7", "prod", "blog", 3)
	add("github.com/7", "github.com/acme/renamed", "prod", "blog", 4)
	add("gitlab.com/7", "gitlab.com/group/sub/renamed", "staging", "blog", 5)
	err := db.Batch(t.Context(), func(ctx context.Context, tx *database.Tx) error { return addTo(ctx, tx, all) })
	if err != nil {
		t.Fatal(err)
	}
}

// windows narrow to nothing, to little and to much.
func windows() map[string]HistoryFilter {
	all := map[string]HistoryFilter{
		"no such repository":  {Repository: "acme/none"},
		"no such environment": {Environment: "none"},
		"both, not together":  {Environment: "prod", Application: "shop"},
		"a key":               {Repository: "GitHub.com/7"},
		"a name of two":       {Repository: "renamed"},
		"an owner and a name": {Repository: "acme/renamed"},
		"a rare application":  {Application: "blog"},
		"a component of it":   {Application: "blog", Component: "web"},
		"a common one":        {Application: "shop"},
		"nothing":             {},
	}
	for name, w := range all {
		w.Limit = 6
		all[name] = w
		w.Since = time.Unix(1_700_000_000+1000, 0)
		all[name+", since"] = w
	}
	return all
}

// By places and by time alone the same is found, page after page.
func TestHistory_placesFindTheSame(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		for name, w := range windows() {
			for range 2 {
				got, err := New(db).History(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				query, args := w.selectByTime()
				if diff := cmp.Diff(found(t, db, query, args), got); diff != "" {
					t.Errorf("%s (-by time +by places):\n%s", name, diff)
				}
				if len(got) == 0 {
					break
				}
				last := got[len(got)-1]
				w.Before = Cursor{At: last.At, ID: last.ID}
			}
		}
	})
}

func found(t *testing.T, db *database.DB, query string, args []any) (all []Event) {
	t.Helper()
	err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			e, err := readEvent(scan)
			all = append(all, e)
			return err
		}, query, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is narrowed to few places costs what is found there, and what is narrowed to none
// a step for each place: no query goes through the events.
func TestHistory_placesByTheIndex(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		// For so few rows PostgreSQL holds the others for as good.
		err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, "drop index history_at"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "drop index history_snapshot")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w := HistoryFilter{Application: "blog", Limit: 6}
		query, args := w.selectFrom([]place{{"github.com/7", "github.com/acme/shop-7", "prod", "blog"}, {"gitlab.com/7", "gitlab.com/group/sub/renamed", "staging", "blog"}})
		for query, args := range map[string][]any{query: args, selectPlaces: append(w.place(), mostPlaces+1)} {
			plan := planOf(t, db, kind.Name == "SQLite", query, args)
			if !strings.Contains(plan, "history_place") || strings.Contains(plan, "Seq Scan") || scans(plan) {
				t.Errorf("it does not go by the index:\n%s\n%s", query, plan)
			}
		}
	})
}

// scans says whether SQLite goes through a whole table or a whole index of it.
func scans(plan string) bool {
	for line := range strings.Lines(plan) {
		// The first place is the first one of the index.
		if strings.HasPrefix(line, "SCAN history") && !strings.Contains(line, "SCAN history USING COVERING INDEX history_place") {
			return true
		}
	}
	return strings.Contains(plan, "SCAN later") || strings.Contains(plan, "SCAN next") || strings.Contains(plan, "(repository>?)")
}

// planOf is how a query would be answered if there were many rows.
func planOf(t *testing.T, db *database.DB, sqlite bool, query string, args []any) string {
	t.Helper()
	var plan strings.Builder
	err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		if !sqlite {
			for _, one := range []string{"seqscan", "bitmapscan"} {
				if _, err := tx.Exec(ctx, "set local enable_"+one+" = off"); err != nil {
					return err
				}
			}
			return tx.Query(ctx, func(scan database.Scan) error {
				var step string
				err := scan(&step)
				plan.WriteString(step + "\n")
				return err
			}, "explain "+query, args...)
		}
		return tx.Query(ctx, func(scan database.Scan) error {
			var id, parent, unused int
			var step string
			err := scan(&id, &parent, &unused, &step)
			plan.WriteString(step + "\n")
			return err
		}, "explain query plan "+query, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// A database of the release before gets the index, and keeps what is in it.
func TestHistory_upgrade(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		options := kind.New(t)
		before := databasetest.Open(t, options)
		fill(t, before)
		err := before.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, "drop index history_place"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "delete from schema_version where version >= 7")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		after := databasetest.Open(t, options)
		w := HistoryFilter{Environment: "staging", Limit: 10}
		if got, err := New(after).History(t.Context(), w); len(got) != 5 || err != nil {
			t.Errorf("%d events, %v", len(got), err)
		}
		if plan := planOf(t, after, kind.Name == "SQLite", selectPlaces, append(w.place(), 1)); !strings.Contains(plan, "history_place") {
			t.Errorf("there is no index:\n%s", plan)
		}
	})
}
