package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/store"
)

func progressOf(b bench, f store.TargetFilter) store.Progress {
	b.Helper()
	p, err := b.Milestones.Progress(b.Context(), f, 1000)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// A condition or gate keeps when it was seen first and since when it is passed, also when a
// process with an empty memory stores the same again.
func TestPromotionTimes_keepTheFirstTimes(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		key := store.TargetKey{Repository: "github.com/7", Environment: "prod", Application: "shop"}
		soak := func(passed bool) store.PromotionTime {
			return store.PromotionTime{TargetKey: key, Snapshot: "v1:1", Kind: store.TimeOfGate, Name: "staging soak", Passed: passed}
		}
		commit := store.PromotionTime{TargetKey: key, Snapshot: "v1:1", Kind: store.TimeOfCommit, Name: "web", Began: noon}
		save := func(times ...store.PromotionTime) map[string]store.PromotionTime {
			b.Helper()
			b.reconciled(store.Repository{Key: key.Repository, Host: "github.com", Name: "acme/gitops"}, store.HistoryUpdate{Times: times})
			found := map[string]store.PromotionTime{}
			for _, one := range progressOf(b, store.TargetFilter{}).Times {
				found[one.Kind] = one
			}
			return found
		}
		first := save(soak(false), commit)
		if first["gate"].Began.IsZero() || !first["gate"].Ended.IsZero() || !first["commit"].Began.Equal(noon) {
			b.Errorf("first: %+v", first)
		}
		passed := save(soak(true), commit)
		if !passed["gate"].Began.Equal(first["gate"].Began) || passed["gate"].Ended.Before(passed["gate"].Began) {
			b.Errorf("passed: %+v", passed)
		}
		commit.Began = noon.Add(-time.Hour)
		again := save(soak(true), commit)
		if again["gate"] != passed["gate"] || !again["commit"].Began.Equal(commit.Began) {
			b.Errorf("again: %+v", again)
		}
		if waits := save(soak(false)); !waits["gate"].Began.Equal(first["gate"].Began) || !waits["gate"].Ended.IsZero() {
			b.Errorf("waits again: %+v", waits)
		}
		if deleted, err := b.Milestones.DeleteBefore(b.Context(), time.Now().Add(time.Hour)); err != nil || deleted != 2 {
			b.Errorf("deleted %d, %v", deleted, err)
		}
	})
}

// A filter selects targets. A repository is found by its name of now, and has the events from
// under its earlier name.
func TestProgress_ofTargets(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		one, other, hold := happened(store.EventLanded, "shop", 1), happened(store.EventHealthy, "blog", 2), happened("hold", "shop", 3)
		one.Since = noon
		b.reconciled(store.Repository{Key: "github.com/7", Host: "github.com", Name: "acme/renamed"}, store.HistoryUpdate{Events: []store.Event{one, other, hold}})
		b.write(func(ctx context.Context, tx *database.Tx) error {
			return b.Targets.Set(ctx, tx, "github.com/7", []store.Target{
				{Environment: "prod", Application: "shop", Labels: map[string]string{"team": "a"}, Monitored: true, Number: 4},
			})
		})
		key := store.TargetKey{Repository: "github.com/7", Environment: "prod", Application: "shop"}
		p := progressOf(b, store.TargetFilter{})
		want := map[store.TargetKey]store.TargetNow{key: {Labels: map[string]string{"team": "a"}, Monitored: true, Number: 4}}
		if diff := cmp.Diff(want, p.Targets); diff != "" || len(p.Milestones) != 3 || p.Names["github.com/7"] != "github.com/acme/renamed" {
			b.Errorf("%d milestones, names %v, targets (-want +got):\n%s", len(p.Milestones), p.Names, diff)
		}
		i := slices.IndexFunc(p.Milestones, func(m store.Milestone) bool { return m.Action == "landed" })
		landed := store.Milestone{TargetKey: key, At: noon.Add(time.Minute), Since: noon, Action: "landed", Snapshot: "v1:0", Number: 5, Rule: "newer"}
		if diff := cmp.Diff(landed, p.Milestones[i]); diff != "" {
			b.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := b.Milestones.Progress(b.Context(), store.TargetFilter{}, 2); fault.KindOf(err) != fault.Invalid {
			b.Errorf("three events with a limit of two: %v", err)
		}
		dev := happened(store.EventLanded, "shop", 4)
		dev.Environment = "dev"
		gone := happened(store.EventLanded, "shop", 5)
		gone.Repository = "github.com/8"
		b.write(func(ctx context.Context, tx *database.Tx) error {
			_, err := b.AddEvents(ctx, tx, []store.Event{dev, gone})
			return err
		})
		readable := store.TargetFilter{Readable: func(repository, environment, application string) bool {
			return repository != "github.com/acme/renamed" || environment == "" || environment == "prod" && application == "shop"
		}}
		if p, err := b.Milestones.Progress(b.Context(), readable, 2); err != nil || len(p.Milestones) != 2 || len(p.Targets) != 1 {
			b.Errorf("two readable events with a limit of two: %+v, %v", p, err)
		}
		for want, filters := range map[int][]store.TargetFilter{
			4: {{Application: "shop"}},
			1: {{Environment: "dev"}, {Application: "blog"}, {Repository: "Acme/renamed", Application: "blog"}},
			3: {{Repository: "github.com/acme/renamed", Environment: "prod"}},
			0: {{Environment: "staging"}, {Repository: "acme/other"}, {Repository: "acme/gitops"}},
		} {
			for _, f := range filters {
				if got := progressOf(b, f); len(got.Milestones) != want {
					b.Errorf("%+v: %d, want %d", f, len(got.Milestones), want)
				}
			}
		}
	})
}
