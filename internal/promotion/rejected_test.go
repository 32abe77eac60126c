package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

func TestPlan_rejectedByVersions(t *testing.T) {
	t.Parallel()
	const words = "web 2.0.0 was rejected by ada on 2026-11-18 (#7): leaks"
	rejecting := func(t *testing.T, target string) *world {
		t.Helper()
		w := lane(t, chain)
		w.decides(state.Reject(w.statePlace(target), state.Rejection{
			Act: byAda("leaks"), Number: 7, Images: images("web:2.0.0@"+sha("2"), "worker:2.0.0@"+sha("a")),
		}))
		return w
	}
	t.Run("a child takes no snapshot with one of them", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.stands("dev/shop", ago(time.Hour), "web:2.0.0@"+sha("2"), "worker:3.0.0@"+sha("3"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.9.0@"+sha("9"), "worker:1.9.0@"+sha("8"))
		w.stands("staging/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		d := w.expect("staging/shop", promotion.Rejected, words)
		if d.Reason.Rule != promotion.RuleRejected || len(d.Moves) != 2 {
			t.Errorf("rule %s, moves %v", d.Reason.Rule, d.Moves)
		}
	})
	t.Run("a newer one goes", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.stands("dev/shop", ago(time.Hour), "web:2.0.1@"+sha("c"), "worker:3.0.0@"+sha("3"))
		w.stands("staging/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("a root does not replace it by an older one, and takes the others", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"), "worker:1.0.0@"+sha("b"))
		w.offers("web:2.0.0@" + sha("2"))
		w.expect("dev/shop", promotion.Rejected, words)
		w.offers("worker:3.0.0@" + sha("3"))
		d := w.expect("dev/shop", promotion.Proposed, "newer: worker 1.0.0 -> 3.0.0")
		if c := condition(t, d, "rejected"); c.Reason != words {
			t.Errorf("condition: %+v", c)
		}
		w.offers("web:2.0.1@" + sha("c"))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("reject: nowhere", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.decides(state.Reject(state.Target{Environment: state.All, Application: state.All},
			state.Rejection{Act: byAda(""), Images: images("web:2.0.0@" + sha("2"))}))
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.stands("staging/other", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.stands("dev/other", ago(time.Hour), "web:2.0.0@"+sha("2"))
		w.offers("web:2.0.0@" + sha("2"))
		w.expect("dev/shop", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
		w.expect("staging/other", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
	})
	t.Run("resumed", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.stands("dev/shop", ago(time.Hour), "web:1.0.0@"+sha("1"))
		w.offers("web:2.0.0@" + sha("2"))
		w.decides(state.Resume(w.statePlace("dev/shop"), state.Act{At: noon}))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.0")
	})
}

func TestPlan_whatWasTakenBackIsNotProposedAgain(t *testing.T) {
	t.Parallel()
	const words = "web 1.5.0 was here before and was taken back (commit 1a2b3c4d5e6f)"
	taken := func(w *world, target string) {
		w.Reverted[w.place(target)] = []promotion.Reversion{{
			Component: "web", Version: version("1.5.0@" + sha("5")), Commit: "1a2b3c4d5e6f7a8b9c",
		}}
	}
	t.Run("in a root", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "dev/shop")
		w.offers("web:1.5.0@" + sha("5"))
		w.expect("dev/shop", promotion.Reverted, words)
		w.offers("web:1.5.1@" + sha("6"))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.1")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "staging/shop")
		w.expect("staging/shop", promotion.Reverted, words)
	})
	t.Run("by the same digest under another tag", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		taken(w, "dev/shop")
		w.offers("web:1.6.0@" + sha("5"))
		w.expect("dev/shop", promotion.Reverted, strings.Replace(words, "1.5.0", "1.6.0", 1))
	})
}

func TestPlan_landedHereBefore(t *testing.T) {
	t.Parallel()
	const words = "moved back: moving sha256:666666666666 -> sha256:555555555555"
	back := func(t *testing.T) *world {
		t.Helper()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "moving:released@"+sha("6"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "moving:released@"+sha("5"))
		w.offers("moving:released@" + sha("5"))
		return w
	}
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		d := back(t).expect("dev/shop", promotion.Waiting, words)
		if d.Reason.Rule != promotion.RuleBackwards {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("also when a person took it back", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.Landings = nil
		w.Reverted[w.place("dev/shop")] = []promotion.Reversion{{Component: "moving", Version: version("released@" + sha("5"))}}
		w.expect("dev/shop", promotion.Waiting, words)
	})
	t.Run("goes when the place was resumed since", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.decides(state.Resume(w.statePlace("dev/shop"), state.Act{At: noon}))
		w.expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:555555555555")
	})
	t.Run("another digest is news", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.offers("moving:released@" + sha("7"))
		w.expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:777777777777")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "moving:released@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "moving:released@"+sha("6"))
		w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "moving:released@"+sha("5"))
		w.expect("staging/shop", promotion.Waiting, words)
	})
}
