package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/database"
	"promoter/internal/fault"
	"promoter/internal/store"
)

// A message keeps what was sent of it when events are added.
func TestNotifications_keepWhatWasSent(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		ignored := cmpopts.IgnoreFields(store.Notification{}, "UpdatedAt", "SentAt", "FailedAt")
		save := func(message string, events int) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.Notifications.Save(ctx, tx, []store.Notification{{ID: "one", Repository: "github.com/7", Destination: "releases", Message: message, Events: events}})
			})
		}
		save(`{"a":"ü"}`, 1)
		if err := b.Notifications.RecordFailure(b.Context(), "one", "down"); err != nil {
			b.Fatal(err)
		}
		want := store.Notification{ID: "one", Repository: "github.com/7", Destination: "releases", Message: `{"a":"ü"}`, Events: 1, Error: "down"}
		got, err := b.Notifications.One(b.Context(), "one")
		if diff := cmp.Diff(want, got, ignored); err != nil || diff != "" || got.FailedAt.IsZero() {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if err := b.Notifications.RecordSent(b.Context(), "one", 1, `{"id":"7"}`); err != nil {
			b.Fatal(err)
		}
		save(`{"b":1}`, 2)
		want = store.Notification{ID: "one", Repository: "github.com/7", Destination: "releases", Message: `{"b":1}`, Events: 2, Sent: 1, Receipt: `{"id":"7"}`}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			known, err := b.Notifications.Get(ctx, tx, []string{"none", "one"})
			if diff := cmp.Diff(map[string]store.Notification{"one": want}, known, ignored); diff != "" {
				b.Errorf("(-want +got):\n%s", diff)
			}
			return err
		})
		counts := func(want ...store.NotificationCounts) {
			b.Helper()
			got, err := b.Notifications.Counts(b.Context())
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.NotificationCounts{}, "SentAt", "FailedAt")); err != nil || diff != "" {
				b.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		counts(store.NotificationCounts{Destination: "releases", Waiting: 1})
		if err := b.Notifications.Omit(b.Context(), "one", 1, "gone"); err != nil { // without the one that was added
			b.Fatal(err)
		}
		counts(store.NotificationCounts{Destination: "releases", Waiting: 1, Failed: 1, Error: "gone"})
		if err := b.Notifications.Omit(b.Context(), "one", 2, "gone"); err != nil {
			b.Fatal(err)
		}
		counts(store.NotificationCounts{Destination: "releases", Failed: 1, Error: "gone"})
		if deleted, err := b.Notifications.DeleteBefore(b.Context(), time.Now().Add(time.Hour)); deleted != 1 || err != nil {
			b.Errorf("deleted %d, %v", deleted, err)
		}
		if _, err := b.Notifications.One(b.Context(), "one"); fault.KindOf(err) != fault.NotFound {
			b.Errorf("err = %v", err)
		}
	})
}

// Each event of the history is taken once, with the pull request of its snapshot.
func TestNotifications_takeEachEventOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		opened := store.Event{At: noon, Repository: "github.com/7", Name: "github.com/acme/gitops", Environment: "prod", Application: "shop", Action: store.EventOpened, Snapshot: "s1", Number: 12, URL: "https://github.com/acme/gitops/pull/12"}
		landed := store.Event{At: noon.Add(time.Minute), Repository: "github.com/7", Name: "github.com/acme/gitops", Environment: "prod", Application: "shop", Action: store.EventLanded, Snapshot: "s1", Commit: "c1"}
		take := func(want ...string) {
			b.Helper()
			b.write(func(ctx context.Context, tx *database.Tx) error {
				events, err := b.Notifications.TakeUnnotified(ctx, tx, "github.com/7")
				var got []string
				for _, e := range events {
					got = append(got, e.Action+" "+e.URL)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					b.Errorf("(-want +got):\n%s", diff)
				}
				return err
			})
		}
		add := func(events ...store.Event) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				_, err := b.AddEvents(ctx, tx, events)
				return err
			})
		}
		add(landed, opened)
		add(landed, opened)
		take("opened https://github.com/acme/gitops/pull/12", "landed https://github.com/acme/gitops/pull/12")
		add(opened)
		take()
	})
}
