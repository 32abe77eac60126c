package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/database"
	"promoter/internal/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func happened(act, application string, minutes int) store.Event {
	return store.Event{
		At: noon.Add(time.Duration(minutes) * time.Minute), Repository: "github.com/7", Name: "GitHub.com/Acme/GitOps",
		Environment: "prod", Application: application, Action: act, Promotion: "p", Snapshot: "v1:0",
		Versions: []store.EventVersion{{Component: "web_app", Repository: "quay.io/acme/web", Tag: "1.0.0", Digest: "sha256:1"}, {Component: "worker", Tag: "2"}},
		Commit:   "c0ffee", Number: 5, URL: "https://github.com/acme/gitops/pull/5", Rule: "newer", Message: "it is \x00newer\xff", User: "ada",
		Trigger: store.Trigger{Receiver: "quay", Delivery: "d1"},
	}
}

func (b bench) ended(events ...store.Event) {
	b.Helper()
	b.endedIn(store.Repository{Key: "github.com/7", Host: "github.com", Name: "acme/gitops"}, store.HistoryUpdate{Events: events})
}

func (b bench) endedIn(lane store.Repository, past store.HistoryUpdate) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) error { return b.RecordReconciliation(ctx, tx, lane, past) })
}

func (b bench) history(w store.HistoryFilter) []store.Event {
	b.Helper()
	if w.Limit == 0 {
		w.Limit = 100
	}
	found, err := b.History(b.Context(), w)
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// What is seen twice, by a second look or a second replica, is written once, also when
// one says that promoter did it and the other one only that it is there.
func TestHistory_once(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		pushed, landed := happened(store.EventPushed, "shop", 1), happened(store.EventLanded, "shop", 2)
		other := happened(store.EventLanded, "shop", 2)
		other.Commit = "beef"
		opened, again := happened(store.EventOpened, "shop", 3), happened(store.EventOpened, "shop", 30)
		hold, later := happened("hold", "shop", 4), happened("hold", "shop", 5)
		b.ended(pushed, landed, opened)
		b.ended(landed, other, again, hold)
		b.ended(hold, later, pushed)
		var acts []string
		for _, e := range b.history(store.HistoryFilter{}) {
			acts = append(acts, e.Action+" "+e.Commit)
		}
		want := []string{"hold c0ffee", "hold c0ffee", "opened c0ffee", "landed beef", "pushed c0ffee"}
		if diff := cmp.Diff(want, acts); diff != "" {
			b.Errorf("(-want +got):\n%s", diff)
		}
		got := b.history(store.HistoryFilter{})[4]
		pushed.Name, pushed.Message, pushed.ID = "github.com/acme/gitops", "it is \uFFFDnewer\uFFFD", pushed.Identity()
		if diff := cmp.Diff(pushed, got); diff != "" {
			b.Errorf("what is read back (-want +got):\n%s", diff)
		}
	})
}

// A landing by hand is told with the pull request that was opened for it.
func TestHistory_landedByHand(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		landed := happened(store.EventLanded, "shop", 9)
		landed.Number, landed.URL, landed.Commit = 0, "", "merge"
		b.ended(happened(store.EventOpened, "shop", 1), happened(store.EventOpened, "other", 1), landed)
		got := b.history(store.HistoryFilter{Limit: 1})[0]
		if got.Action != store.EventLanded || got.Number != 5 || got.URL == "" {
			b.Errorf("%+v", got)
		}
	})
}

func TestHistory_narrowed(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		dev := happened(store.EventOpened, "shop", 2)
		dev.Environment, dev.Number = "dev", 6
		elsewhere := happened(store.EventOpened, "shop", 3)
		elsewhere.Repository, elsewhere.Name, elsewhere.Versions = "gitlab.com/9", "gitlab.com/acme/other", nil
		b.ended(happened(store.EventOpened, "shop", 1), dev, elsewhere)
		for name, test := range map[string]struct {
			w    store.HistoryFilter
			want int
		}{
			"all":                       {store.HistoryFilter{}, 3},
			"by a name":                 {store.HistoryFilter{Repository: "Acme/GitOps"}, 2},
			"by a host and a name":      {store.HistoryFilter{Repository: "github.com/acme/gitops"}, 2},
			"by a key":                  {store.HistoryFilter{Repository: "gitlab.com/9"}, 1},
			"by a part of a name":       {store.HistoryFilter{Repository: "gitops"}, 2},
			"by a pattern":              {store.HistoryFilter{Repository: "acme/%"}, 0},
			"by environment":            {store.HistoryFilter{Environment: "dev"}, 1},
			"by application":            {store.HistoryFilter{Application: "shop", Environment: "prod"}, 2},
			"by component":              {store.HistoryFilter{Component: "web_app"}, 2},
			"by a pattern of component": {store.HistoryFilter{Component: "web%"}, 0},
			"by what looks alike":       {store.HistoryFilter{Component: "web.app"}, 0},
			"since":                     {store.HistoryFilter{Since: noon.Add(2 * time.Minute)}, 2},
			"of another":                {store.HistoryFilter{Repository: "acme/none"}, 0},
		} {
			if got := b.history(test.w); len(got) != test.want {
				b.Errorf("%s: %d events, want %d", name, len(got), test.want)
			}
		}
	})
}

// Who commits names himself at any length. A row has a size.
func TestHistory_bounded(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		long := happened(store.EventLanded, "shop", 1)
		long.User, long.Message, long.URL = strings.Repeat("é", 1<<20), strings.Repeat("w", 1<<20), strings.Repeat("u", 1<<20)
		b.ended(long)
		got := b.history(store.HistoryFilter{})[0]
		for _, text := range []string{got.User, got.Message, got.URL} {
			if len(text) > 4<<10 || len(text) < 3<<10 || !utf8.ValidString(text) {
				b.Errorf("%d bytes of %.10q", len(text), text)
			}
		}
	})
}

// What is asked is anything at all, and is compared as it was kept.
func TestHistory_anyQuestion(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		odd := happened(store.EventOpened, "sh\x00op\xff", 1)
		b.ended(odd)
		if got := b.history(store.HistoryFilter{Application: odd.Application}); len(got) != 1 {
			b.Errorf("%d events, want 1", len(got))
		}
		none := "\x00\xff"
		w := store.HistoryFilter{Repository: none, Environment: none, Component: none, Before: store.Cursor{At: noon, ID: none}}
		if got := b.history(w); len(got) != 0 {
			b.Errorf("%d events, want none", len(got))
		}
	})
}

// Pages meet, also where many things happened at one time.
func TestHistory_paged(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		var all []store.Event
		for i := range 1234 {
			e := happened(store.EventOpened, fmt.Sprintf("app-%d", i), i/100)
			all = append(all, e)
		}
		b.ended(all...)
		read, w := map[string]bool{}, store.HistoryFilter{Limit: 100}
		for {
			page := b.history(w)
			for _, e := range page {
				if read[e.Application] {
					b.Fatalf("%s is there twice", e.Application)
				}
				read[e.Application] = true
			}
			if len(page) < w.Limit {
				break
			}
			last := page[len(page)-1]
			w.Before = store.Cursor{At: last.At, ID: last.ID}
		}
		if len(read) != len(all) {
			b.Errorf("%d events were read of %d", len(read), len(all))
		}
	})
}

func TestHeads(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		lane := store.Repository{Key: "github.com/7"}
		for _, heads := range []map[string]string{{"main": "1", "env/prod": "2"}, {"main": "3"}} {
			b.endedIn(lane, store.HistoryUpdate{Heads: heads})
		}
		got, err := b.Heads(b.Context(), lane.Key)
		if diff := cmp.Diff(map[string]string{"main": "3", "env/prod": "2"}, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestCaused(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		caused := func(delivery string, lanes ...string) {
			b.write(func(_ context.Context, tx *database.Tx) error {
				b.RecordTrigger(tx, store.Trigger{Receiver: "quay", Delivery: delivery}, lanes)
				return nil
			})
		}
		caused("1", "a", "b")
		caused("2", "b")
		caused("3")
		for lane, want := range map[string]string{"a": "1", "b": "2", "c": ""} {
			if got, err := b.TriggerSince(b.Context(), lane, time.Time{}); err != nil || got.Delivery != want {
				b.Errorf("%s: %+v, %v; want %q", lane, got, err, want)
			}
		}
		if got, err := b.TriggerSince(b.Context(), "a", time.Now().Add(time.Hour)); err != nil || got != (store.Trigger{}) {
			b.Errorf("one from before: %+v, %v", got, err)
		}
		if err := b.DeleteRepository(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if got, err := b.TriggerSince(b.Context(), "a", time.Time{}); err != nil || got != (store.Trigger{}) {
			b.Errorf("of a lane that is no more: %+v, %v", got, err)
		}
	})
}

// Much is removed a little at a time, and nothing else is.
func TestSweepHistory(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		var all []store.Event
		for i := range 1700 {
			all = append(all, happened(store.EventOpened, fmt.Sprintf("app-%d", i), i))
		}
		b.ended(all...)
		if n, err := b.DeleteHistoryBefore(b.Context(), noon.Add(1690*time.Minute)); n != 1690 || err != nil {
			b.Errorf("removed %d, %v", n, err)
		}
		if left := b.history(store.HistoryFilter{}); len(left) != 10 || left[9].Application != "app-1690" {
			b.Errorf("%d are left", len(left))
		}
	})
}
