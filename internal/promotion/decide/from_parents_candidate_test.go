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

func TestPlan_eligibleSnapshotStaysEligible(t *testing.T) {
	t.Parallel()
	past := func(t *testing.T) (*decidetest.Scenario, *promotion.Landing) {
		t.Helper()
		w := decidetest.New(t, decidetest.Soaking)
		w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		landing := w.Landed("dev/shop", promotiontest.Ago(3*time.Hour), promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		return w, landing
	}
	const waits = "dev soak: present since 2026-11-18T10:50:00Z"
	t.Run("after the parent moved on", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		d := w.Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
		if v, _ := promotion.MoveOf(d.Moves, "web"); v.To.Digest != promotiontest.Digest("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	t.Run("the newer one goes when it is eligible", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Landings[w.Target("dev/shop")][0].At = promotiontest.Ago(time.Hour)
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("not when it left before it was", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = promotiontest.Ago(time.Hour)
		d := w.Expect("staging/shop", promotion.Waiting, waits)
		if due := promotiontest.Noon.Add(50 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("not when nobody knows for how long it stood there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = time.Time{}
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was reverted there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.Reverted = true
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Decides(state.Reject(w.StateTarget("dev/shop"), state.Rejection{
			Act: promotiontest.ByAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + promotiontest.Digest("5")},
		}))
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected everywhere", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Decides(state.Reject(state.Target{Environment: state.All, Application: state.All}, state.Rejection{
			Act: promotiontest.ByAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + promotiontest.Digest("5")},
		}))
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not from before a component was there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Has("dev/shop", "worker:2.0.0@"+promotiontest.Digest("0"))
		w.Landings[w.Target("dev/shop")][0].Snapshot = promotiontest.Pinned("web:1.6.0@"+promotiontest.Digest("6"), "worker:2.0.0@"+promotiontest.Digest("0"))
		w.RegistryAnswers("worker:2.0.0@" + promotiontest.Digest("0"))
		w.Has("staging/shop", "worker:1.9.0@"+promotiontest.Digest("9"))
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("nothing older than what is here", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Targets[w.Target("staging/shop")] = promotion.Current{}
		w.Has("staging/shop", "web:1.5.0@"+promotiontest.Digest("5"))
		w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(3*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("staging/shop", promotion.Waiting, waits)
	})
}

// Where a parent itself went back, what it went back from is no candidate.
func TestPlan_skipsWhatTheParentWentBackFrom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                   string
		present, former, first string
	}{
		{"by order", "web:1.5.0@" + promotiontest.Digest("5"), "web:1.6.0@" + promotiontest.Digest("6"), "web:1.5.0@" + promotiontest.Digest("5")},
		{"by what was there before", "moving:released@" + promotiontest.Digest("5"), "moving:released@" + promotiontest.Digest("6"), "moving:released@" + promotiontest.Digest("5")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Soaking)
			w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), test.present)
			w.Landed("dev/shop", promotiontest.Ago(3*time.Hour), promotiontest.Ago(10*time.Minute), test.former)
			w.Landed("dev/shop", promotiontest.Ago(4*time.Hour), promotiontest.Ago(3*time.Hour), test.first)
			component, _, _ := strings.Cut(test.present, ":")
			w.Stands("staging/shop", promotiontest.Ago(5*time.Hour), component+":1.4.0@"+promotiontest.Digest("4"))
			w.Expect("staging/shop", promotion.Waiting, "dev soak: present since 2026-11-18T10:50:00Z")
		})
	}
}

func TestPlan_diamondTakesTheNewestEligibleInBoth(t *testing.T) {
	t.Parallel()
	const text = promotiontest.Components + `
environments:
  dev: {paths: [dev]}
  a: {paths: [a], after: [dev]}
  b: {paths: [b], after: [dev]}
  prod: {paths: [prod], after: {a: {soak: 1h}, b: {}}}
`
	t.Run("one that both have had", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, text)
		w.Stands("a", promotiontest.Ago(2*time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Landed("a", promotiontest.Ago(9*time.Hour), promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("prod", promotion.Proposed, "a and b had: web 1.4.0 -> 1.5.0")
	})
	t.Run("the newest of several", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, text)
		w.Stands("a", promotiontest.Ago(2*time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Landed("a", promotiontest.Ago(9*time.Hour), promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Hour), "web:1.7.0@"+promotiontest.Digest("7"))
		w.Landed("b", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Landed("b", promotiontest.Ago(9*time.Hour), promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.6.0")
	})
	t.Run("waits for what both have had", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, text)
		w.Stands("a", promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Landed("b", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("prod", promotion.Waiting, "a soak: present since 2026-11-18T10:50:00Z")
	})
	t.Run("the one of several that is eligible", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, strings.Replace(text, "b: {}", "b: {soak: 1h}", 1))
		w.Stands("a", promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.1.0@"+promotiontest.Digest("1"))
		w.Landed("b", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:1.9.0@"+promotiontest.Digest("9"))
		w.Expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 1.9.0 -> 2.0.0")
	})
	t.Run("nothing in common", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, text)
		w.Stands("a", promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(2*time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Expect("prod", promotion.Waiting, "the upstream environments differ: web 1.5.0 in a, 1.6.0 in b")
	})
	t.Run("each knows one component", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, text)
		w.Stands("a", promotiontest.Ago(2*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Minute), "worker:2.1.0@"+promotiontest.Digest("1"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
		w.Expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 2.0.0 -> 2.1.0")
	})
}

func TestPlan_forwardAndBackWaitsWithForge(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Chain)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"), "worker:1.9.0@"+promotiontest.Digest("9"))
	w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
	d := w.Expect("staging/shop", promotion.Waiting, "would move back: worker 2.0.0 -> 1.9.0")
	if len(d.Moves) != 2 {
		t.Errorf("the snapshot was split: %v", d.Moves)
	}
}
