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

func everyApplication(string) bool { return true }

func posted(application, name string, minutes int) store.Snapshot {
	return store.Snapshot{
		Repository: "github.com/7", Application: application, Name: name, Receiver: "pipeline", PostedAt: noon.Add(time.Duration(minutes) * time.Minute),
		Content: []byte(`{"a":"ü"}`), Images: map[string]string{"web": "quay.io/acme/web:1@sha256:1"},
	}
}

func TestSnapshot_isStoredOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		restored := posted("shop", "one", 1)
		restored.Content = nil
		restore := func() {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.Snapshots.Restore(ctx, tx, []store.Snapshot{restored})
			})
		}
		restore()
		for _, one := range []store.Snapshot{posted("shop", "one", 1), posted("shop", "two", 2), posted("blog", "two", 3)} {
			if err := b.Snapshots.Save(b.Context(), one); err != nil {
				b.Fatal(err)
			}
		}
		restore()
		got, err := b.Snapshots.Get(b.Context(), "github.com/7", "", "one", everyApplication)
		if diff := cmp.Diff(posted("shop", "one", 1), got, cmpopts.EquateApproxTime(0)); err != nil || diff != "" {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := b.Snapshots.Get(b.Context(), "github.com/7", "", "two", everyApplication); fault.KindOf(err) != fault.Invalid {
			b.Errorf("of two applications: %v", err)
		}
		blog := func(application string) bool { return application == "blog" }
		if got, err := b.Snapshots.Get(b.Context(), "github.com/7", "", "two", blog); got.Application != "blog" || err != nil {
			b.Errorf("of two applications, of which one is readable: %+v, %v", got, err)
		}
		if _, err := b.Snapshots.Get(b.Context(), "github.com/7", "shop", "two", blog); fault.KindOf(err) != fault.NotFound {
			b.Errorf("of an application that is not readable: %v", err)
		}
		if _, err := b.Snapshots.Get(b.Context(), "github.com/8", "shop", "one", everyApplication); fault.KindOf(err) != fault.NotFound {
			b.Errorf("of another repository: %v", err)
		}
		if deleted, err := b.Snapshots.DeleteBefore(b.Context(), noon.Add(150*time.Second)); deleted != 2 || err != nil {
			b.Errorf("deleted %d, %v", deleted, err)
		}
	})
}

// The targets of a repository are replaced. The time of one stays while its state does.
func TestTargets(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		set := func(targets ...store.Target) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.Targets.Set(ctx, tx, "github.com/7", targets)
			})
		}
		read := func() []store.Target {
			found, err := b.Targets.List(b.Context(), "github.com/7", "", "")
			if err != nil {
				b.Fatal(err)
			}
			return found
		}
		dev := store.Target{Environment: "dev", Application: "shop", State: "same", Current: []store.EventVersion{{Component: "web", Tag: "1"}}}
		prod := store.Target{Environment: "prod", Application: "shop", State: "waiting", Message: "soak"}
		gone := store.Target{Environment: "old", Application: "shop", State: "same"}
		set(gone, prod, dev)
		first := read()
		dev.Current[0].Tag, prod.State = "2", "proposed"
		set(dev, prod)
		second := read()
		if diff := cmp.Diff([]store.Target{dev, prod}, second, cmpopts.IgnoreFields(store.Target{}, "Since"), cmpopts.EquateEmpty()); diff != "" {
			b.Errorf("(-want +got):\n%s", diff)
		}
		if !second[0].Since.Equal(first[2].Since) || !second[1].Since.After(first[1].Since) {
			b.Errorf("since: %v, then %v", first, second)
		}
		if err := b.DeleteRepository(b.Context(), "github.com/7"); err != nil || len(read()) > 0 {
			b.Errorf("after the repository was deleted: %v, %v", read(), err)
		}
	})
}
