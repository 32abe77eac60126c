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
		Trigger: store.DeliveryRef{Receiver: "quay", Delivery: "d1"},
	}
}

func (b bench) record(events ...store.Event) {
	b.Helper()
	b.reconciled(store.Repository{Key: "github.com/7", Host: "github.com", Name: "acme/gitops"}, store.HistoryUpdate{Events: events})
}

func (b bench) reconciled(repository store.Repository, update store.HistoryUpdate) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) error {
		_, err := b.RecordReconciliation(ctx, tx, repository, update)
		return err
	})
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

func TestHistory_recordsAnEventOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		pushed, landed := happened(store.EventPushed, "shop", 1), happened(store.EventLanded, "shop", 2)
		other := happened(store.EventLanded, "shop", 2)
		other.Commit = "beef"
		opened, again := happened(store.EventOpened, "shop", 3), happened(store.EventOpened, "shop", 30)
		hold, later := happened("hold", "shop", 4), happened("hold", "shop", 5)
		b.record(pushed, landed, opened)
		b.record(landed, other, again, hold)
		b.record(hold, later, pushed)
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

func TestHistory_addsThePullRequestToObservedLandings(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		landed := happened(store.EventLanded, "shop", 9)
		landed.Number, landed.URL, landed.Commit = 0, "", "merge"
		b.record(happened(store.EventOpened, "shop", 1), happened(store.EventOpened, "other", 1), landed)
		got := b.history(store.HistoryFilter{Limit: 1})[0]
		if got.Action != store.EventLanded || got.Number != 5 || got.URL == "" {
			b.Errorf("%+v", got)
		}
	})
}

func TestHistory_filters(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		dev := happened(store.EventOpened, "shop", 2)
		dev.Environment, dev.Number = "dev", 6
		elsewhere := happened(store.EventOpened, "shop", 3)
		elsewhere.Repository, elsewhere.Name, elsewhere.Versions = "gitlab.com/9", "gitlab.com/acme/other", nil
		b.record(happened(store.EventOpened, "shop", 1), dev, elsewhere)
		for name, test := range map[string]struct {
			w    store.HistoryFilter
			want int
		}{
			"all":                       {store.HistoryFilter{}, 3},
			"by a name":                 {store.HistoryFilter{Repository: "Acme/GitOps"}, 2},
			"by a host and a name":      {store.HistoryFilter{Repository: "github.com/acme/gitops"}, 2},
			"by a key":                  {store.HistoryFilter{Repository: "gitlab.com/9"}, 1},
			"by a key alone":            {store.HistoryFilter{Key: "gitlab.com/9"}, 1},
			"by the end of a key alone": {store.HistoryFilter{Key: "9"}, 0},
			"by a name as a key":        {store.HistoryFilter{Key: "gitlab.com/acme/other"}, 0},
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

func TestHistory_truncatesLongTexts(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		long := happened(store.EventLanded, "shop", 1)
		long.User, long.Message, long.URL = strings.Repeat("é", 1<<20), strings.Repeat("w", 1<<20), strings.Repeat("u", 1<<20)
		b.record(long)
		got := b.history(store.HistoryFilter{})[0]
		for _, text := range []string{got.User, got.Message, got.URL} {
			if len(text) > 4<<10 || len(text) < 3<<10 || !utf8.ValidString(text) {
				b.Errorf("%d bytes of %.10q", len(text), text)
			}
		}
	})
}

func TestHistory_acceptsAnyFilterText(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		odd := happened(store.EventOpened, "sh\x00op\xff", 1)
		b.record(odd)
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

func TestHistory_pagesAreComplete(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		var all []store.Event
		for i := range 1234 {
			e := happened(store.EventOpened, fmt.Sprintf("app-%d", i), i/100)
			all = append(all, e)
		}
		b.record(all...)
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

func TestHeads_keepOtherBranches(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		repository := store.Repository{Key: "github.com/7"}
		for _, heads := range []map[string]string{{"main": "1", "env/prod": "2"}, {"main": "3"}} {
			b.reconciled(repository, store.HistoryUpdate{Heads: heads})
		}
		got, err := b.Heads(b.Context(), repository.Key)
		if diff := cmp.Diff(map[string]string{"main": "3", "env/prod": "2"}, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestTriggerSince(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		trigger := func(delivery string, repositories ...string) {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				return b.RecordTrigger(ctx, tx, store.DeliveryRef{Receiver: "quay", Delivery: delivery}, repositories)
			})
		}
		trigger("1", "a", "b")
		trigger("2", "b")
		trigger("3")
		for repository, want := range map[string]string{"a": "1", "b": "2", "c": ""} {
			if got, err := b.TriggerSince(b.Context(), repository, time.Time{}); err != nil || got.Delivery != want {
				b.Errorf("%s: %+v, %v; want %q", repository, got, err, want)
			}
		}
		if got, err := b.TriggerSince(b.Context(), "a", time.Now().Add(time.Hour)); err != nil || got != (store.DeliveryRef{}) {
			b.Errorf("one from before: %+v, %v", got, err)
		}
		if err := b.DeleteRepository(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
		if got, err := b.TriggerSince(b.Context(), "a", time.Time{}); err != nil || got != (store.DeliveryRef{}) {
			b.Errorf("of a deleted repository: %+v, %v", got, err)
		}
	})
}

func TestDeleteHistoryBefore_deletesOnlyOlderEvents(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		var all []store.Event
		for i := range 1700 {
			all = append(all, happened(store.EventOpened, fmt.Sprintf("app-%d", i), i))
		}
		b.record(all...)
		if n, err := b.DeleteHistoryBefore(b.Context(), noon.Add(1690*time.Minute)); n != 1690 || err != nil {
			b.Errorf("deleted %d, %v", n, err)
		}
		if left := b.history(store.HistoryFilter{}); len(left) != 10 || left[9].Application != "app-1690" {
			b.Errorf("%d are left", len(left))
		}
	})
}

// Only the reconciliation that adds an event receives it as new, also if another one observes it later.
func TestAddEvents_returnsThoseThatAreNew(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		landed := store.Event{Repository: "github.com/1", Environment: "dev", Application: "web", Action: store.EventPushed, Commit: "c1", At: at}
		observed := landed
		observed.Action = store.EventLanded
		next := observed
		next.Commit = "c2"
		for _, step := range []struct{ events, want []store.Event }{
			{[]store.Event{landed}, []store.Event{landed}},
			{[]store.Event{observed, next, next}, []store.Event{next}},
			{[]store.Event{next, observed}, nil},
		} {
			b.write(func(ctx context.Context, tx *database.Tx) error {
				added, err := b.AddEvents(ctx, tx, step.events)
				if diff := cmp.Diff(step.want, added); diff != "" {
					b.Errorf("(-want +got):\n%s", diff)
				}
				return err
			})
		}
	})
}
