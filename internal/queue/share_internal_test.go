package queue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShare(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		capacity int
		running  []Item
		waiting  []Waiting
		want     []Share
	}{
		"one tenant leaves a worker": {
			capacity: 4, waiting: []Waiting{{"a", 1000, 1000, at}}, want: []Share{{"a", 3}},
		},
		"half while another one waits": {
			capacity: 4, waiting: []Waiting{{"a", 1000, 1000, at}, {"b", 1000, 1000, at}}, want: []Share{{"a", 2}, {"b", 2}},
		},
		"what others do not need": {
			capacity: 8, waiting: []Waiting{{"a", 1000, 1000, at}, {"b", 1, 1, at}}, want: []Share{{"a", 7}, {"b", 1}},
		},
		"events first": {
			capacity: 4, waiting: []Waiting{{"a", 9, 0, at}, {"b", 1, 1, at.Add(time.Minute)}}, want: []Share{{"a", 3}, {"b", 1}},
		},
		"a part for events": {
			capacity: 4, running: []Item{{Tenant: "a"}, {Tenant: "b"}, {Tenant: "c"}},
			waiting: []Waiting{{"d", 1, 0, at}, {"e", 1, 1, at}}, want: []Share{{"e", 1}},
		},
		"none for polls": {
			capacity: 4, running: []Item{{Tenant: "a"}, {Tenant: "b"}, {Tenant: "c"}}, waiting: []Waiting{{"d", 1, 0, at}}, want: []Share{},
		},
		"a tenant that has its part": {
			capacity: 4, running: []Item{{Tenant: "a", Urgent: true}, {Tenant: "a", Urgent: true}, {Tenant: "a", Urgent: true}},
			waiting: []Waiting{{"a", 5, 5, at}}, want: []Share{},
		},
		"unknown tenants are not limited": {
			capacity: 2, waiting: []Waiting{{"", 5, 5, at}}, want: []Share{{"", 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(Worker{Concurrency: test.capacity})
			for _, item := range test.running {
				r.begin(item, false, at)
			}
			if diff := cmp.Diff(test.want, r.share(test.waiting, test.capacity-len(test.running))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A single worker takes turns.
func TestShare_ofOneWorker(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	r, got := newRoom(Worker{}), ""
	for range 6 {
		one := r.share([]Waiting{{"a", 1000, 1000, at}, {"b", 10, 0, at.Add(time.Hour)}, {"c", 10, 0, at}}, 1)[0]
		item := Item{Tenant: one.Tenant}
		r.begin(item, false, at)
		r.end(item, false, at, at)
		got += one.Tenant
	}
	if got != "acbacb" {
		t.Errorf("order %s", got)
	}
}

func TestRoom_ofSuspects(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	r, item := newRoom(Worker{Concurrency: 4}), Item{}
	check := func(when string, wantFree int, wantSuspects bool) {
		t.Helper()
		if free, suspects, _ := r.next(at); free != wantFree || suspects != wantSuspects {
			t.Errorf("%s: %d free, suspects: %t", when, free, suspects)
		}
	}
	r.begin(item, false, at)
	r.suspectIn(at, time.Minute)
	check("before it is due", 3, false)
	at = at.Add(time.Minute)
	check("while another run ends", 0, false)
	at = at.Add(maxHold / 2)
	r.end(item, false, r.began[0], at)
	check("now it is alone", 1, true)
	r.begin(item, true, at)
	r.suspectIn(at, 0)
	check("nothing runs beside it", 0, false)
	at = at.Add(maxAlone)
	check("unless it is slow", 3, false)
	r.end(item, true, r.began[0], at)
	check("others have their turn before the next one", 4, false)
	at = at.Add(maxHold/2 + maxAlone)
	check("the next one", 1, true)
	r.begin(item, false, at)
	r.suspectIn(at, maxWait)
	check("it runs elsewhere", 3, false)
	r.suspectIn(at, 0)
	check("another one waits for other runs", 0, false)
	at = at.Add(maxHold)
	check("but not for slow ones", 1, true)
}

func TestRoom_ofSlowRunsAndMemory(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	fits := 100
	r := newRoom(Worker{Concurrency: 4, Most: 6, Room: func(growing int) int { return max(0, fits-growing) }})
	check := func(when string, want int) {
		t.Helper()
		if free, _, _ := r.next(at); free != want {
			t.Errorf("%s: %d free", when, free)
		}
	}
	check("an idle process", 4)
	for range 3 {
		r.begin(Item{Tenant: "slow"}, false, at)
	}
	check("with three runs", 1)
	fits = 3
	check("without memory", 0)
	fits = 100
	at = at.Add(slowAfter)
	check("they are slow", 3)
	fits = 4
	check("they are slow and may need more memory", 1)
	at = at.Add(grownAfter - slowAfter)
	check("they have all their memory", 3)
	r.begin(Item{Tenant: "other"}, false, at)
	fits = 2
	check("with memory for one more", 1)
	for range 4 {
		r.end(Item{}, false, r.began[0], at)
	}
	fits = 0
	check("the first one needs no memory", 1)
}
