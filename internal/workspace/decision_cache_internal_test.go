package workspace

import (
	"context"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/event"
	"promoter/internal/image"
	"promoter/internal/kept"
	"promoter/internal/reconcile/cache"
	"promoter/internal/serverfile"
	"promoter/internal/store"
)

// Each event about an image makes its answers stale, also the second one, and one about another
// image does not.
func TestKeeper_eventsAndPolls(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		db := databasetest.Open(t, kind.New(t))
		all, memory := store.New(db), NewDecisions(1<<20)
		happens := func(path string) {
			t.Helper()
			if err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
				return all.ImageEvents.Record(ctx, tx, []event.Image{{Host: "quay.io", Path: path}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		web, err := image.ParseRepository("quay.io/acme/web")
		if err != nil {
			t.Fatal(err)
		}
		reconciled := func() (known, changed bool) {
			t.Helper()
			fresh := &freshness{server: &serverfile.Server{File: &serverconfig.Config{Poll: 30 * 24 * time.Hour}}, store: all, key: "github.com/7"}
			k := decisionCache{all: memory, key: "github.com/7", fresh: fresh, file: kept.At("")}
			kept, what, err := k.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if kept == nil {
				if _, err := fresh.read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			known, changed = kept != nil, kept != nil && what.Image(web)
			k.Store(&cache.Entry{})
			return known, changed
		}

		if known, _ := reconciled(); known {
			t.Error("something is known at the start")
		}
		if known, changed := reconciled(); !known || changed {
			t.Errorf("nothing happened: known %v, changed %v", known, changed)
		}
		happens("acme/worker")
		if _, changed := reconciled(); changed {
			t.Error("an event about another image counts")
		}
		for range 2 {
			happens("acme/web")
			if _, changed := reconciled(); !changed {
				t.Error("an event about the image does not count")
			}
		}
		if err := all.RequestRefresh(t.Context(), "github.com/7"); err != nil {
			t.Fatal(err)
		}
		if known, _ := reconciled(); known {
			t.Error("a refresh does not count")
		}
	})
}
