package workspace

import (
	"context"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
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
func TestDecisions_eventsAndRefreshes(t *testing.T) {
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

// Decisions are reused only by the session that has their answers, and while no schedule fired, nothing
// was refreshed, and the repository follows as many images.
func TestDecisions_whatMakesAllStale(t *testing.T) {
	t.Parallel()
	session := new(connect.Session)
	now := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	last := store.Freshness{Now: now, Images: 2, Refreshed: now.Add(-time.Hour), Fired: map[string]time.Time{"6h": now.Add(-time.Hour)}}
	tests := []struct {
		name   string
		change func(c *decisionCache, fresh *store.Freshness)
		reused bool
	}{
		{"nothing", func(*decisionCache, *store.Freshness) {}, true},
		{"time", func(_ *decisionCache, fresh *store.Freshness) { fresh.Now = now.Add(time.Second) }, true},
		{"another repository", func(c *decisionCache, _ *store.Freshness) { c.key = "github.com/8" }, false},
		{"another session", func(c *decisionCache, _ *store.Freshness) { c.session = new(connect.Session) }, false},
		{"a refresh", func(_ *decisionCache, fresh *store.Freshness) { fresh.Refreshed = now }, false},
		{"a schedule", func(_ *decisionCache, fresh *store.Freshness) { fresh.Fired = map[string]time.Time{"6h": now} }, false},
		{"another image", func(_ *decisionCache, fresh *store.Freshness) { fresh.Images = 3 }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			memory, entry := NewDecisions(1<<20), &cache.Entry{}
			first := decisionCache{all: memory, key: freshKey, session: session, fresh: freshWith(last), file: kept.At("")}
			first.Store(entry)
			c, fresh := first, last
			test.change(&c, &fresh)
			c.fresh = freshWith(fresh)
			got, changed, err := c.Load(t.Context())
			if err != nil || (got == entry) != test.reused || (changed.Image != nil) != test.reused {
				t.Errorf("the entry is %v, %v", got, err)
			}
		})
	}
}

// What a reconciliation does not store is forgotten, and so is what it stores without having read
// what makes it stale.
func TestDecisions_forgets(t *testing.T) {
	t.Parallel()
	unread := freshWith(store.Freshness{})
	unread.known = nil
	for name, test := range map[string]struct {
		entry *cache.Entry
		fresh *freshness
		known bool
	}{
		"stored":   {&cache.Entry{}, freshWith(store.Freshness{}), true},
		"nothing":  {nil, freshWith(store.Freshness{}), false},
		"not read": {&cache.Entry{}, unread, false},
	} {
		memory := NewDecisions(1 << 20)
		memory.kept.Put(freshKey, keptDecisions{entry: &cache.Entry{}}, 1)
		decisionCache{all: memory, key: freshKey, fresh: test.fresh, file: kept.At("")}.Store(test.entry)
		if last, known := memory.kept.Get(freshKey); known != test.known || last.entry != nil && last.entry != test.entry {
			t.Errorf("%s: known %t", name, known)
		}
	}
}
