package queuetest

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

var ends = map[string]func(*testing.T, databasetest.Kind){
	"a hint during a run has a run of its own": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		for _, result := range []queue.Result{{}, {Forget: true}, {Next: b.clock.Now().Add(time.Hour)}} {
			item := b.one()
			b.hint("a")
			b.must(b.Done(t.Context(), item, result))
		}
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.none()
	},
	"a hint during a run that fails is not lost": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		item := b.one()
		b.hint("a")
		b.must(b.Fail(t.Context(), item, queue.Failure{Reason: "no", Delay: time.Minute, MinDelay: time.Minute}))
		b.none()
		b.clock.Move(time.Minute)
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.none()
	},
	"a failure waits, says why, and is forgiven": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "the forge is down", Delay: time.Minute, MinDelay: time.Minute}))
		entry := b.entry("a")
		if entry.LastError != "the forge is down" || entry.Attempts != 1 || !entry.FailedAt.Equal(b.clock.Now()) ||
			!entry.NotBefore.Equal(b.clock.Now().Add(time.Minute)) {
			t.Errorf("entry %+v", entry)
		}
		b.hint("a")
		b.none()
		b.clock.Move(time.Minute)
		item := b.one()
		if item.Attempt != 2 {
			t.Errorf("attempt %d", item.Attempt)
		}
		b.must(b.Done(t.Context(), item, queue.Result{}))
		if entry := b.entry("a"); entry.LastError != "" || entry.Attempts != 0 || !entry.FailedAt.IsZero() || !entry.NotBefore.IsZero() {
			t.Errorf("entry after a good run %+v", entry)
		}
	},
	"a hint brings a failure forward as far as it may": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a", "b")
		for _, item := range b.claim(2) {
			b.must(b.Fail(t.Context(), item, queue.Failure{Reason: "no", Delay: time.Hour, MinDelay: time.Minute}))
		}
		b.hint("a")
		b.none()
		b.clock.Move(time.Minute)
		b.one()
		b.clock.Move(time.Hour)
		b.claim(2)
	},
	"a failure waits for the time that it was told": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		at := b.clock.Now().Add(time.Hour)
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "limit", Delay: time.Second, RetryAt: at, NotBefore: at}))
		b.hint("a")
		if wait := b.wait(); wait != time.Hour {
			t.Errorf("due in %v", wait)
		}
	},
	"a schedule runs when it is time": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		if wait := b.wait(); wait != time.Hour {
			t.Errorf("due in %v", wait)
		}
		if entry := b.entry("a"); !entry.TriggeredAt.IsZero() || !entry.NotBefore.Equal(b.clock.Now().Add(time.Hour)) {
			t.Errorf("entry %+v", entry)
		}
		b.clock.Move(time.Hour)
		b.must(b.Done(t.Context(), b.one(), queue.Result{}))
		b.clock.Move(24 * time.Hour)
		b.none()
	},
	"a hint brings a schedule forward": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Next: b.clock.Now().Add(time.Hour)}))
		b.give(quietly("a"))
		b.none()
		b.clock.Move(5 * time.Second)
		b.one()
	},
	"what is forgotten leaves no row": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Done(t.Context(), b.one(), queue.Result{Forget: true}))
		all, err := b.Entries(t.Context(), "lane", "", 10)
		if b.must(err); len(all) > 0 {
			t.Errorf("entries %v", all)
		}
		b.hint("a")
		b.one()
	},
	"a run that is given back was none": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Release(t.Context(), b.one(), 0))
		item := b.one()
		if item.Attempt != 1 {
			t.Errorf("attempt %d", item.Attempt)
		}
		b.must(b.Release(t.Context(), item, time.Second))
		b.none()
		b.clock.Move(time.Second)
		b.one()
	},
	"an error is bounded text": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.hint("a")
		b.must(b.Fail(t.Context(), b.one(), queue.Failure{Reason: "\x00\xff" + strings.Repeat("ü", 5000)}))
		if kept := b.entry("a").LastError; len(kept) > 2010 || !utf8.ValidString(kept) || !strings.HasSuffix(kept, "ü…") {
			t.Errorf("kept %d bytes: %q", len(kept), kept)
		}
	},
}
