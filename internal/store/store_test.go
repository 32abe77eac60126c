package store_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/store"
)

// bench is one store on an empty database.
type bench struct {
	*testing.T
	*store.Store
	db *database.DB
}

// each runs a test on every kind of database.
func each(t *testing.T, test func(b bench)) {
	t.Helper()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		test(bench{t, store.New(db), db})
	})
}

// write runs a transaction.
func (b bench) write(do func(ctx context.Context, tx *database.Tx) error) {
	b.Helper()
	if err := b.db.Update(b.Context(), do); err != nil {
		b.Fatal(err)
	}
}

func (b bench) save(d store.Delivery) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) error { return b.Deliveries.Save(ctx, tx, d) })
}

func delivery(id string) store.Delivery {
	return store.Delivery{
		Receiver: "quay", ID: id, Sender: "quay", EventType: "push",
		Events: []event.Event{{Kind: event.KindImage, Image: event.Image{Host: "quay.io", Path: "acme/web", Tag: "1"}}},
		Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("{\x00}"),
	}
}

func TestDelivery_repeatedIsStoredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for range 3 {
			b.save(delivery("one"))
		}
		got, err := b.Deliveries.Get(b.Context(), "quay", "one")
		if err != nil || got.Times != 3 || got.ReceivedAt.IsZero() || got.SeenAt.Before(got.ReceivedAt) {
			b.Fatalf("%+v, %v", got, err)
		}
		got.ReceivedAt, got.SeenAt, got.Times = time.Time{}, time.Time{}, 0
		if diff := cmp.Diff(delivery("one"), got); diff != "" {
			b.Errorf("(-want +got):\n%s", diff)
		}
		if all, err := b.Deliveries.Receivers(b.Context(), "one"); err != nil || !slices.Equal(all, []string{"quay"}) {
			b.Errorf("taken by %v, %v", all, err)
		}
		if all, err := b.Deliveries.Newest(b.Context(), 10); err != nil || len(all) != 1 {
			b.Errorf("listed %v, %v", all, err)
		}
		if _, err := b.Deliveries.Get(b.Context(), "quay", "another"); fault.KindOf(err) != fault.NotFound {
			b.Errorf("another: %v", err)
		}
	})
}

func TestDeleteDeliveriesBefore(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.save(delivery("old"))
		kept, err := b.Deliveries.Get(b.Context(), "quay", "old")
		if err != nil {
			b.Fatal(err)
		}
		if n, err := b.Deliveries.DeleteBefore(b.Context(), kept.ReceivedAt); n != 0 || err != nil {
			b.Errorf("up to its own time: %d, %v", n, err)
		}
		if n, err := b.Deliveries.DeleteBefore(b.Context(), kept.ReceivedAt.Add(time.Microsecond)); n != 1 || err != nil {
			b.Errorf("after it: %d, %v", n, err)
		}
	})
}

func pattern(t testing.TB, text string) store.Subscription {
	t.Helper()
	p, err := image.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return store.Subscription{Image: p}
}

func (b bench) subscribers(e event.Event) (found []string) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) (err error) {
		found, err = b.Subscribers(ctx, tx, "hook", e)
		return err
	})
	return found
}

func (b bench) setSubscriptions(repository string, subscriptions ...store.Subscription) (added bool) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) (err error) {
		added, err = b.SetSubscriptions(ctx, tx, repository, subscriptions)
		return err
	})
	return added
}

func TestSubscribers(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		subscribe := func(repository string, subscriptions ...store.Subscription) {
			for _, want := range []bool{true, false} {
				if added := b.setSubscriptions(repository, subscriptions...); added != want {
					b.Fatalf("%s: added %v, want %v", repository, added, want)
				}
			}
		}
		subscribe("exact", pattern(b.T, "quay.io/acme/web"), pattern(b.T, "nginx"))
		subscribe("stars", pattern(b.T, "quay.io/acme/**"), store.Subscription{Release: store.Release{Host: "GitHub.com", Name: "Acme/Web"}})
		subscribe("hosts", pattern(b.T, "*.example.com/acme/web"))
		subscribe("hub", pattern(b.T, "team/*"))
		subscribe("anywhere", pattern(b.T, "**/tools/lint"))
		subscribe("part", pattern(b.T, "quay.io/teams/team-*/**"))
		subscribe("before", pattern(b.T, "quay.io/acme/web"))
		subscribe("before", pattern(b.T, "quay.io/acme/other"))
		for _, test := range []struct {
			name     string
			reported event.Event
			want     []string
		}{
			{"by its name and by a pattern", imageEvent("quay.io", "acme/web"), []string{"exact", "stars"}},
			{"by what is followed now", imageEvent("quay.io", "acme/other"), []string{"before", "stars"}},
			{"by a pattern of hosts", imageEvent("r.example.com", "acme/web"), []string{"hosts"}},
			{"Docker Hub's names are one", imageEvent("docker.io", "library/nginx"), []string{"exact"}},
			{"by a pattern of Docker Hub", imageEvent("index.docker.io", "team/web"), []string{"hub"}},
			{"by a pattern of any host", imageEvent("ghcr.io", "acme/tools/lint"), []string{"anywhere"}},
			{"by a part of a component", imageEvent("quay.io", "teams/team-a/b/c"), []string{"part"}},
			{"of another team", imageEvent("quay.io", "teams/other/b"), nil},
			{"on any host", imageEvent("", "acme/web"), []string{"exact", "hosts", "stars"}},
			{"no subscriber", imageEvent("ghcr.io", "acme/web"), nil},
			{"a release", event.Event{Kind: event.KindRelease, Repository: event.Repository{Host: "github.com", Name: "acme/web"}}, []string{"stars"}},
		} {
			if diff := cmp.Diff(test.want, b.subscribers(test.reported)); diff != "" {
				b.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	})
}

func imageEvent(host, path string) event.Event {
	return event.Event{Kind: event.KindImage, Image: event.Image{Host: host, Path: path}}
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		repository := store.Repository{Key: "github.com/7", Forge: "github", Host: "GitHub.com", Name: "Acme/GitOps", Failure: "no config"}
		for _, failure := range []string{"no config", ""} {
			repository.Failure = failure
			b.reconciled(repository, store.HistoryUpdate{})
		}
		all, err := b.Repositories(b.Context())
		if err != nil || len(all) != 1 || all[0].Failure != "" || all[0].Name != "acme/gitops" || all[0].ReconciledAt.IsZero() {
			b.Fatalf("%+v, %v", all, err)
		}
		about := func(r event.Repository) []string {
			return b.subscribers(event.Event{Kind: event.KindRepository, Repository: r})
		}
		for _, test := range []struct {
			reported event.Repository
			want     []string
		}{
			{event.Repository{Host: "github.com", Name: "renamed/since", ID: "7"}, []string{"github.com/7"}},
			{event.Repository{Host: "github.com", Name: "ACME/gitops"}, []string{"github.com/7"}},
			{event.Repository{Host: "gitlab.com", Name: "acme/gitops", ID: "7"}, nil},
		} {
			if diff := cmp.Diff(test.want, about(test.reported)); diff != "" {
				b.Errorf("%+v (-want +got):\n%s", test.reported, diff)
			}
		}
		if err := b.DeleteRepository(b.Context(), repository.Key); err != nil {
			b.Fatal(err)
		}
		if got := about(event.Repository{Host: "github.com", ID: "7"}); got != nil {
			b.Errorf("after it was deleted: %v", got)
		}
	})
}

// A repository of plain Git is found by its name, or by the address of which that is the end.
func TestRepositories_ofPlainGit(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for key, name := range map[string]string{
			"git:https://git.example.com/scm/acme/gitops": "acme/gitops.git", "git:ssh://git.example.com:7999/acme/gitops": "acme/gitops.git",
		} {
			b.reconciled(store.Repository{Key: key, Host: "git.example.com", Name: name}, store.HistoryUpdate{})
		}
		for _, test := range []struct {
			host, name string
			want       []string
		}{
			{"git.example.com", "scm/acme/gitops", []string{"git:https://git.example.com/scm/acme/gitops"}},
			{"git.example.com:443", "scm/acme/gitops.git", []string{"git:https://git.example.com/scm/acme/gitops"}},
			{"git.example.com:7999", "acme/gitops", []string{"git:ssh://git.example.com:7999/acme/gitops"}},
			{"git.example.com", "acme/gitops", nil},
			{"git.example.com", "", nil},
			{"git.example.com", "..", nil},
			{"another.example.com", "scm/acme/gitops", nil},
		} {
			got := b.subscribers(event.Event{Kind: event.KindRepository, Repository: event.Repository{Host: test.host, Name: test.name}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				b.Errorf("%s/%s (-want +got):\n%s", test.host, test.name, diff)
			}
		}
	})
}

func TestRecordReconciliation_storesAnyErrorText(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for text, want := range map[string]string{
			"no\x00NUL": "no\uFFFDNUL", "no \xff letter": "no \uFFFD letter", strings.Repeat("é", 1<<20): strings.Repeat("é", 2<<10),
		} {
			repository := store.Repository{Key: "github.com/7", Forge: "github", Host: "github.com", Name: "acme/gitops", Failure: text}
			b.reconciled(repository, store.HistoryUpdate{})
			if got, err := b.Repository(b.Context(), repository.Key); err != nil || got.Failure != want {
				b.Errorf("%.20q: %.20q of %d bytes, %v", text, got.Failure, len(got.Failure), err)
			}
		}
	})
}

// Drift stays until another one is set, whatever else is recorded.
func TestSetDrift(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		one, other := store.Repository{Key: "github.com/7", Host: "github.com", Name: "acme/gitops"}, store.Repository{Key: "github.com/8", Host: "github.com", Name: "acme/other"}
		b.reconciled(one, store.HistoryUpdate{})
		set := func(drift string) {
			b.write(func(ctx context.Context, tx *database.Tx) error { return b.Targets.SetDrift(ctx, tx, one.Key, drift) })
		}
		set(`[{"message":"a\u0000é"}]`)
		b.reconciled(one, store.HistoryUpdate{})
		b.reconciled(other, store.HistoryUpdate{})
		if got, err := b.Targets.Drift(b.Context()); err != nil || len(got) != 1 || got[one.Key] != `[{"message":"a\u0000é"}]` {
			b.Errorf("%v, %v", got, err)
		}
		set("")
		if got, err := b.Targets.Drift(b.Context()); err != nil || len(got) != 0 {
			b.Errorf("%v, %v", got, err)
		}
	})
}

func TestImageEventsSince(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		record := func(reported event.Image) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.ImageEvents.Record(ctx, tx, []event.Image{reported})
			})
		}
		record(event.Image{Host: "quay.io", Path: "acme/web", Tag: "1"})
		record(event.Image{Path: "acme/any"})
		all, err := b.ImageEvents.Since(b.Context(), time.Time{})
		if err != nil || len(all) != 2 || all[0].Image != (event.Image{Host: "quay.io", Path: "acme/web"}) {
			b.Fatalf("%v, %v", all, err)
		}
		newest := all[1].At
		if later, err := b.ImageEvents.Since(b.Context(), newest.Add(time.Microsecond)); err != nil || len(later) != 0 {
			b.Errorf("later: %v, %v", later, err)
		}
		record(event.Image{Host: "quay.io", Path: "acme/web"})
		if again, err := b.ImageEvents.Since(b.Context(), newest); err != nil || len(again) != 2 || again[1].Image.Path != "acme/web" {
			b.Errorf("again: %v, %v", again, err)
		}
	})
}

func TestTrimDeliveries_keepsTheNewest(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for _, id := range []string{"first", "second", "third"} {
			large := delivery(id)
			large.Body = bytes.Repeat([]byte{0}, 1000)
			b.save(large)
		}
		if n, err := b.Deliveries.Trim(b.Context(), 4000); n != 0 || err != nil {
			t.Errorf("within the limit: deleted %d, %v", n, err)
		}
		if n, err := b.Deliveries.Trim(b.Context(), 2500); n != 1 || err != nil {
			t.Errorf("beyond it: deleted %d, %v", n, err)
		}
		left, err := b.Deliveries.Newest(b.Context(), 10)
		if err != nil || len(left) != 2 || left[0].ID != "third" || left[1].ID != "second" {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

func TestTrimImageEvents_keepsTheNewest(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		record := func(path string) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.ImageEvents.Record(ctx, tx, []event.Image{{Host: "quay.io", Path: path}})
			})
		}
		for _, path := range []string{"first", "second", "third"} {
			record(path)
		}
		if n, err := b.ImageEvents.Trim(b.Context(), 3); n != 0 || err != nil {
			t.Errorf("within the limit: deleted %d, %v", n, err)
		}
		if n, err := b.ImageEvents.Trim(b.Context(), 2); n != 1 || err != nil {
			t.Errorf("beyond it: deleted %d, %v", n, err)
		}
		left, err := b.ImageEvents.Since(b.Context(), time.Time{})
		if err != nil || len(left) != 2 || left[0].Image.Path != "second" || left[1].Image.Path != "third" {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}
