package decide_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestPlan_rejectedVersions(t *testing.T) {
	t.Parallel()
	const words = "web 2.0.0 was rejected by ada on 2026-11-18 (#7): leaks"
	rejecting := func(t *testing.T, target string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, decidetest.Chain)
		w.Decides(state.Reject(w.StateTarget(target), state.Rejection{
			Act: promotiontest.ByAda("leaks"), Number: 7, Images: promotiontest.Images("web:2.0.0@"+promotiontest.Digest("2"), "worker:2.0.0@"+promotiontest.Digest("a")),
		}))
		return w
	}
	t.Run("a child takes no snapshot with one of them", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:2.0.0@"+promotiontest.Digest("2"), "worker:3.0.0@"+promotiontest.Digest("3"))
		w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.9.0@"+promotiontest.Digest("9"), "worker:1.9.0@"+promotiontest.Digest("8"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"), "worker:1.0.0@"+promotiontest.Digest("b"))
		d := w.Expect("staging/shop", promotion.Rejected, words)
		if d.Reason.Rule != promotion.RuleRejected || len(d.Moves) != 2 {
			t.Errorf("rule %s, moves %v", d.Reason.Rule, d.Moves)
		}
	})
	t.Run("a newer one goes", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "staging/shop")
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:2.0.1@"+promotiontest.Digest("c"), "worker:3.0.0@"+promotiontest.Digest("3"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"), "worker:1.0.0@"+promotiontest.Digest("b"))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("a root does not replace it by an older one, and takes the others", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"), "worker:1.0.0@"+promotiontest.Digest("b"))
		w.Publish("web:2.0.0@" + promotiontest.Digest("2"))
		w.Expect("dev/shop", promotion.Rejected, words)
		w.Publish("worker:3.0.0@" + promotiontest.Digest("3"))
		d := w.Expect("dev/shop", promotion.Proposed, "newer: worker 1.0.0 -> 3.0.0")
		if c := promotiontest.ConditionNamed(t, d, "rejected"); c.Reason != words {
			t.Errorf("condition: %+v", c)
		}
		w.Publish("web:2.0.1@" + promotiontest.Digest("c"))
		w.Expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.1, worker 1.0.0 -> 3.0.0")
	})
	t.Run("reject: nowhere", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Decides(state.Reject(state.Target{Environment: state.All, Application: state.All},
			state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:2.0.0@" + promotiontest.Digest("2"))}))
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"))
		w.Stands("staging/other", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"))
		w.Stands("dev/other", promotiontest.Ago(time.Hour), "web:2.0.0@"+promotiontest.Digest("2"))
		w.Publish("web:2.0.0@" + promotiontest.Digest("2"))
		w.Expect("dev/shop", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
		w.Expect("staging/other", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18")
	})
	t.Run("allowed again", func(t *testing.T) {
		t.Parallel()
		w := rejecting(t, "dev/shop")
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.0.0@"+promotiontest.Digest("1"))
		w.Publish("web:2.0.0@" + promotiontest.Digest("2"))
		w.Decides(state.Resume(w.StateTarget("dev/shop"), state.Act{At: promotiontest.Noon}))
		w.Expect("dev/shop", promotion.Rejected, "web 2.0.0 was rejected by ada on 2026-11-18 (#7): leaks")
		w.Decides(state.Unreject(w.StateTarget("dev/shop"), state.Unrejection{Act: state.Act{At: promotiontest.Noon}, Images: promotiontest.Images("web:2.0.0")}))
		w.Expect("dev/shop", promotion.Proposed, "newer: web 1.0.0 -> 2.0.0")
	})
}

func TestPlan_revertedVersionIsNotProposedAgain(t *testing.T) {
	t.Parallel()
	const words = "web 1.5.0 was here before and was reverted (commit 1a2b3c4d5e6f)"
	taken := func(w *decidetest.Scenario, target string) {
		w.Reverted[w.Target(target)] = []promotion.Reversion{{
			Component: "web", Version: promotiontest.Version("1.5.0@" + promotiontest.Digest("5")), Commit: "1a2b3c4d5e6f7a8b9c",
		}}
	}
	t.Run("in a root", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		taken(w, "dev/shop")
		w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
		w.Expect("dev/shop", promotion.Reverted, words)
		w.Publish("web:1.5.1@" + promotiontest.Digest("6"))
		w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.1")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		taken(w, "staging/shop")
		w.Expect("staging/shop", promotion.Reverted, words)
	})
	t.Run("by the same digest under another tag", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		taken(w, "dev/shop")
		w.Publish("web:1.6.0@" + promotiontest.Digest("5"))
		w.Expect("dev/shop", promotion.Reverted, strings.Replace(words, "1.5.0", "1.6.0", 1))
	})
}

func TestPlan_landedHereBefore(t *testing.T) {
	t.Parallel()
	const words = "moved back: moving sha256:666666666666 -> sha256:555555555555"
	back := func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("6"))
		w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("5"))
		w.Publish("moving:released@" + promotiontest.Digest("5"))
		return w
	}
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		d := back(t).Expect("dev/shop", promotion.Waiting, words)
		if d.Reason.Rule != promotion.RuleBackwards {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("also when a person took it back", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.Landings = nil
		w.Reverted[w.Target("dev/shop")] = []promotion.Reversion{{Component: "moving", Version: promotiontest.Version("released@" + promotiontest.Digest("5"))}}
		w.Expect("dev/shop", promotion.Waiting, words)
	})
	t.Run("goes when it was allowed again", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.Decides(state.Resume(w.StateTarget("dev/shop"), state.Act{At: promotiontest.Noon}))
		w.Expect("dev/shop", promotion.Waiting, words)
		w.Decides(state.Unreject(w.StateTarget("dev/shop"), state.Unrejection{Act: state.Act{At: promotiontest.Noon}, Images: promotiontest.Images("moving:released")}))
		w.Expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:555555555555")
	})
	t.Run("another digest is news", func(t *testing.T) {
		t.Parallel()
		w := back(t)
		w.Publish("moving:released@" + promotiontest.Digest("7"))
		w.Expect("dev/shop", promotion.Proposed, "newer: moving sha256:666666666666 -> sha256:777777777777")
	})
	t.Run("in a child", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("6"))
		w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "moving:released@"+promotiontest.Digest("5"))
		w.Expect("staging/shop", promotion.Waiting, words)
	})
}
