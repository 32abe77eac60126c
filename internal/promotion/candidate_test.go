package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

func TestPlan_onceEligibleStaysSo(t *testing.T) {
	t.Parallel()
	past := func(t *testing.T) (*world, *promotion.Landing) {
		t.Helper()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(10*time.Minute), "web:1.6.0@"+sha("6"))
		landing := w.landed("dev/shop", ago(3*time.Hour), ago(10*time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		return w, landing
	}
	const waits = "dev soak: there since 2026-11-18T10:50:00Z"
	t.Run("after the parent moved on", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		d := w.expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
		if v, _ := d.Wanted("web"); v.Digest != sha("5") {
			t.Errorf("wanted %+v", v)
		}
	})
	t.Run("the newer one goes when it is eligible", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Landings[w.place("dev/shop")][0].At = ago(time.Hour)
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("not when it left before it was", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = ago(time.Hour)
		d := w.expect("staging/shop", promotion.Waiting, waits)
		if due := noon.Add(50 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("not when nobody knows for how long it stood there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.At = time.Time{}
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was taken back there", func(t *testing.T) {
		t.Parallel()
		w, landing := past(t)
		landing.TakenBack = true
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.decides(state.Reject(w.statePlace("dev/shop"), state.Rejection{
			Act: byAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + sha("5")},
		}))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not when it was rejected everywhere", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.decides(state.Reject(state.Target{Environment: state.All, Application: state.All}, state.Rejection{
			Act: byAda("broken"), Images: map[string]string{"web": "quay.io/acme/web:1.5.0@" + sha("5")},
		}))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("not from before a component was there", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.has("dev/shop", "worker:2.0.0@"+sha("0"))
		w.Landings[w.place("dev/shop")][0].Snapshot = pinnedTo("web:1.6.0@"+sha("6"), "worker:2.0.0@"+sha("0"))
		w.answers("worker:2.0.0@" + sha("0"))
		w.has("staging/shop", "worker:1.9.0@"+sha("9"))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
	t.Run("nothing older than what is here", func(t *testing.T) {
		t.Parallel()
		w, _ := past(t)
		w.Targets[w.place("staging/shop")] = promotion.Current{}
		w.has("staging/shop", "web:1.5.0@"+sha("5"))
		w.landed("dev/shop", ago(9*time.Hour), ago(3*time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("staging/shop", promotion.Waiting, waits)
	})
}

// Where a parent itself went back, what it went back from is no candidate.
func TestPlan_notWhatTheParentWentBackFrom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                   string
		present, former, first string
	}{
		{"by order", "web:1.5.0@" + sha("5"), "web:1.6.0@" + sha("6"), "web:1.5.0@" + sha("5")},
		{"by what was there before", "moving:released@" + sha("5"), "moving:released@" + sha("6"), "moving:released@" + sha("5")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, soaking)
			w.stands("dev/shop", ago(10*time.Minute), test.present)
			w.landed("dev/shop", ago(3*time.Hour), ago(10*time.Minute), test.former)
			w.landed("dev/shop", ago(4*time.Hour), ago(3*time.Hour), test.first)
			component, _, _ := strings.Cut(test.present, ":")
			w.stands("staging/shop", ago(5*time.Hour), component+":1.4.0@"+sha("4"))
			w.expect("staging/shop", promotion.Waiting, "dev soak: there since 2026-11-18T10:50:00Z")
		})
	}
}

func TestPlan_diamondTakesTheNewestEligibleInBoth(t *testing.T) {
	t.Parallel()
	const text = components + `
environments:
  dev: {paths: [dev]}
  a: {paths: [a], after: [dev]}
  b: {paths: [b], after: [dev]}
  prod: {paths: [prod], after: {a: {soak: 1h}, b: {}}}
`
	t.Run("one that both have had", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("a", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Proposed, "a and b had: web 1.4.0 -> 1.5.0")
	})
	t.Run("the newest of several", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("a", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.7.0@"+sha("7"))
		w.landed("b", ago(2*time.Hour), ago(time.Hour), "web:1.6.0@"+sha("6"))
		w.landed("b", ago(9*time.Hour), ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.6.0")
	})
	t.Run("waits for what both have had", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(10*time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.landed("b", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Waiting, "a soak: there since 2026-11-18T10:50:00Z")
	})
	t.Run("the one of several that is eligible", func(t *testing.T) {
		t.Parallel()
		w := lane(t, strings.Replace(text, "b: {}", "b: {soak: 1h}", 1))
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.1.0@"+sha("1"))
		w.landed("b", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:1.9.0@"+sha("9"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 1.9.0 -> 2.0.0")
	})
	t.Run("nothing in common", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(2*time.Hour), "web:1.6.0@"+sha("6"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.expect("prod", promotion.Waiting, "the environments before differ: web 1.5.0 in a, 1.6.0 in b")
	})
	t.Run("each knows one component", func(t *testing.T) {
		t.Parallel()
		w := lane(t, text)
		w.stands("a", ago(2*time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Minute), "worker:2.1.0@"+sha("1"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
		w.expect("prod", promotion.Proposed, "a and b have: web 1.4.0 -> 1.5.0, worker 2.0.0 -> 2.1.0")
	})
}

func TestPlan_forwardAndBackWaitsInLanes(t *testing.T) {
	t.Parallel()
	w := lane(t, chain)
	w.stands("dev/shop", ago(time.Hour), "web:1.6.0@"+sha("6"), "worker:1.9.0@"+sha("9"))
	w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
	w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
	d := w.expect("staging/shop", promotion.Waiting, "would move back: worker 2.0.0 -> 1.9.0")
	if len(d.Moves) != 2 {
		t.Errorf("the snapshot was split: %v", d.Moves)
	}
}
