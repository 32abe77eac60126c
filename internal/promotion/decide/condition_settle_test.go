package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// settling waits for two minutes without a newer version.
const settling = promotiontest.Components + `
applications: {"*": {settle: 2m}}
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
`

func TestPlan_settle(t *testing.T) {
	t.Parallel()
	available := func(w *decidetest.Scenario, at time.Time, text string) {
		w.Publish(text)
		component, _, _ := strings.Cut(text, ":")
		v := promotiontest.Pinned(text)[component].Version
		w.Decides(state.FirstAvailable(w.StateTarget("dev/shop"), state.Version{
			Component: component, Tag: v.Tag, Digest: v.Digest, At: at,
		}))
	}
	settling := func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, settling)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
		available(w, promotiontest.Ago(3*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		return w
	}
	t.Run("goes when it is over", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
		want := promotion.Condition{Name: "settle", State: promotion.Passed, Value: "2m", Reason: "web 1.5.0 available since 2026-11-18T10:57:00Z"}
		if diff := cmp.Diff(want, promotiontest.ConditionNamed(t, d, "settle")); diff != "" {
			t.Errorf("condition (-want +got):\n%s", diff)
		}
	})
	t.Run("a newer version of another component begins it again", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		available(w, promotiontest.Ago(time.Minute), "worker:2.1.0@"+promotiontest.Digest("1"))
		d := w.Expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 available since 2026-11-18T10:59:00Z")
		if due := promotiontest.Noon.Add(time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("one that is seen now counts from now", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		w.Publish("worker:2.1.0@" + promotiontest.Digest("1"))
		d := w.Expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 available since 2026-11-18T11:00:00Z")
		if due := promotiontest.Noon.Add(2 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("a clock ahead of ours counts as now", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		available(w, promotiontest.Noon.Add(time.Hour), "worker:2.1.0@"+promotiontest.Digest("1"))
		w.Expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 available since 2026-11-18T11:00:00Z")
	})
	t.Run("a child does not settle", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.3.0@"+promotiontest.Digest("3"))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.3.0 -> 1.4.0")
	})
}
