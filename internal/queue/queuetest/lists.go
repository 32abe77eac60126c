package queuetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

var lists = map[string]func(*testing.T, databasetest.Kind){
	"the figures": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("running", "failing", "scheduled", "idle")
		found := b.claim(4)
		b.must(b.Fail(t.Context(), found["failing"], queue.Failure{Reason: "no", Delay: time.Hour}))
		b.must(b.Done(t.Context(), found["scheduled"], queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		b.must(b.Done(t.Context(), found["idle"], queue.Result{}))
		b.clock.Move(time.Second)
		b.hint("waiting")
		b.give(queue.Trigger{Kind: "message", Key: "one"})
		b.clock.Move(2 * time.Second)
		got, err := b.Stats(t.Context())
		b.must(err)
		want := []queue.Stat{
			{Kind: "lane", Waiting: 2, Running: 1, Failing: 1, Oldest: 3 * time.Second},
			{Kind: "message", Waiting: 1, Oldest: 2 * time.Second},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("figures (-want +got):\n%s", diff)
		}
	},
	"the list has pages": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("c", "a", "d", "b")
		var keys []string
		for after := ""; ; {
			page, err := b.Entries(t.Context(), "lane", after, 3)
			b.must(err)
			if len(page) == 0 {
				break
			}
			for _, one := range page {
				keys = append(keys, one.Key)
			}
			after = page[len(page)-1].Key
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, keys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	},
}
