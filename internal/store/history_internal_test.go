package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

// fill fills a history: many targets, and a few of one application, of which one was
// renamed.
func fill(t *testing.T, db *database.DB) {
	t.Helper()
	var all []Event
	add := func(key, name, environment, application string, times int) {
		for range times {
			n := len(all) // a different event each time
			all = append(all, Event{
				At: time.Unix(1_700_000_000+int64(n*7919%5000), 0), Repository: key, Name: name, Environment: environment, Application: application, Action: EventOpened, Number: n + 1,
				Snapshot: fmt.Sprint(n), Versions: []EventVersion{{Component: []string{"web", "worker"}[n%2]}},
			})
		}
	}
	for n := range maxTargets + 2 {
		add(fmt.Sprintf("github.com/%d", n), fmt.Sprintf("github.com/acme/shop-%d", n), "dev", "shop", 2)
	}
	add("github.com/7", "github.com/acme/shop-7", "prod", "blog", 3)
	add("github.com/7", "github.com/acme/renamed", "prod", "blog", 4)
	add("gitlab.com/7", "gitlab.com/group/sub/renamed", "staging", "blog", 5)
	err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := New(db).AddEvents(ctx, tx, all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// filters match nothing, little, and much.
func filters() map[string]HistoryFilter {
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

func TestHistory_byTargetFindsTheSameAsByTime(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		for name, w := range filters() {
			for range 2 {
				got, err := New(db).History(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				query, args := w.selectByTime()
				if diff := cmp.Diff(found(t, db, query, args), got); diff != "" {
					t.Errorf("%s (-by time +by target):\n%s", name, diff)
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

// What is not readable counts for no limit, and no page ends at it: the pages are those of a history
// that does not have it.
func TestHistory_pagesWhatIsReadable(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		for scope, readable := range map[string]Readable{
			"few targets":  func(_, _, application string) bool { return application == "" || application == "blog" },
			"many targets": func(_, environment, _ string) bool { return environment == "" || environment == "dev" },
			"a name":       func(repository, _, _ string) bool { return repository == "github.com/acme/renamed" },
			"nothing":      func(string, string, string) bool { return false },
		} {
			for name, w := range filters() {
				all := w
				all.Limit = 1000
				want, err := New(db).History(t.Context(), all)
				if err != nil {
					t.Fatal(err)
				}
				want = slices.DeleteFunc(want, func(e Event) bool { return !readable(e.Name, e.Environment, e.Application) })
				w.Readable = readable
				var got []Event
				for {
					page, err := New(db).History(t.Context(), w)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, page...)
					if len(page) < w.Limit {
						break
					}
					w.Before = Cursor{At: page[len(page)-1].At, ID: page[len(page)-1].ID}
				}
				if diff := cmp.Diff(ids(want), ids(got)); diff != "" {
					t.Errorf("%s of %s (-want +got):\n%s", scope, name, diff)
				}
			}
		}
	})
}

func ids(events []Event) (all []string) {
	for _, e := range events {
		all = append(all, e.ID)
	}
	return all
}

func found(t *testing.T, db *database.DB, query string, args []any) []Event {
	t.Helper()
	all, err := viewRows(t.Context(), db, scanEvent, query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// No query of few targets reads all events.
func TestHistory_byTargetUsesTheIndex(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		// With so few rows, PostgreSQL may prefer the other indexes.
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
		query, args := w.selectByTarget([]target{{"github.com/7", "github.com/acme/shop-7", "prod", "blog"}, {"gitlab.com/7", "gitlab.com/group/sub/renamed", "staging", "blog"}})
		first := `[{"r":"github.com/7","n":"github.com/acme/shop-7"}]`
		for query, args := range map[string][]any{
			query: args, selectNames: w.repositoryArgs(), selectTargets: append(append([]any{first}, w.targetArgs()...), maxTargets+1),
		} {
			plan := planOf(t, db, kind.Name == "SQLite", query, args)
			// To join the steps of the walk with the table, PostgreSQL reads all of it in each step.
			reads := strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Join") || scans(plan)
			if !strings.Contains(plan, "history_target") || reads {
				t.Errorf("it does not use the index:\n%s\n%s", query, plan)
			}
		}
	})
}

// scans reports whether SQLite reads a whole table or index, or all rows that are equal where it
// compares rows, as in (repository,name)>(?,?).
func scans(plan string) bool {
	return strings.Contains(plan, "SCAN history") || strings.Contains(plan, "SCAN next") || strings.Contains(plan, ")>(")
}

// planOf is the plan of a query with many rows.
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

// The pull request of a landing is found by its snapshot: a target may have any number of
// events, and a page any number of landings. Later pages cost as much as the first.
func TestHistory_byTimeUsesTheIndexes(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	query, args := HistoryFilter{Limit: 10}.selectByTime()
	plan := planOf(t, db, true, query, args)
	for _, want := range []string{"SEARCH event USING INDEX history_at (at>? AND at<?)", "INDEX history_snapshot (repository=? AND environment=? AND application=? AND snapshot=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in\n%s", want, plan)
		}
	}
	if strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("it sorts:\n%s", plan)
	}
}

// The events of many targets are read in the order of time, up to the limit.
func TestHistory_amongTargetsReadsUpToTheLimit(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		query, args, err := HistoryFilter{Limit: 6}.selectAmong([]target{{"github.com/7", "github.com/acme/shop-7", "prod", "blog"}})
		if err != nil {
			t.Fatal(err)
		}
		plan := planOf(t, db, kind.Name == "SQLite", query, args)
		sorts := strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") || strings.Contains(plan, "Join")
		if !strings.Contains(plan, "history_at") || sorts {
			t.Errorf("it reads all events of the targets, or each target for each event:\n%s", plan)
		}
	})
}

// What a scope hides is not read to be left out of the metrics.
func TestProgress_readsReadableRepositories(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		fill(t, db)
		r := reading{readable: func(repository, _, _ string) bool { return repository == "github.com/acme/shop" }}
		rows, err := r.within(selection{}, map[string]string{"github.com/1": "github.com/acme/shop", "github.com/2": "github.com/acme/hidden"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{`[{"r":"github.com/1","n":"","e":"","a":""}]`}, rows.args); diff != "" {
			t.Error(diff)
		}
		for _, table := range []string{"history", "promotion_time", "target"} {
			plan := planOf(t, db, kind.Name == "SQLite", "select * from "+table+rows.where, rows.args)
			if strings.Contains(plan, "SCAN "+table) || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s is read as a whole:\n%s", table, plan)
			}
		}
	})
}
