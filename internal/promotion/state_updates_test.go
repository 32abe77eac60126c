package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// records plans, writes down what must be remembered, and returns how many places
// of the state that changed.
func records(w *promotiontest.Scenario) int {
	w.T.Helper()
	before := w.State
	w.Decides(promotion.StateUpdates(w.Observation, promotion.Plan(w.Observation, promotiontest.Noon), promotiontest.Noon)...)
	return len(w.State.Diff(before))
}

// settling waits for two minutes without a newer version.
const settling = promotiontest.Components + `
applications: {"*": {settle: 2m}}
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
`

func TestPlan_settle(t *testing.T) {
	t.Parallel()
	available := func(w *promotiontest.Scenario, at time.Time, text string) {
		w.Publish(text)
		component, _, _ := strings.Cut(text, ":")
		v := promotiontest.Pinned(text)[component].Version
		w.Decides(state.FirstAvailable(w.StateTarget("dev/shop"), state.Version{
			Component: component, Tag: v.Tag, Digest: v.Digest, At: at,
		}))
	}
	settling := func(t *testing.T) *promotiontest.Scenario {
		t.Helper()
		w := promotiontest.New(t, settling)
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
	t.Run("one that is seen now counts from now, and is remembered once", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		w.Publish("worker:2.1.0@" + promotiontest.Digest("1"))
		d := w.Expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 available since 2026-11-18T11:00:00Z")
		if due := promotiontest.Noon.Add(2 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
		if n := records(w); n != 1 {
			t.Errorf("%d places are written", n)
		}
		at, known := w.State.AvailableSince(w.StateTarget("dev/shop"), state.Version{Component: "worker", Tag: "2.1.0", Digest: promotiontest.Digest("1")})
		if !known || !at.Equal(promotiontest.Noon) {
			t.Errorf("offered at %v, %v", at, known)
		}
		if n := records(w); n != 0 {
			t.Errorf("the second time %d places are written", n)
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

func TestStateUpdates_firstSeenWhereAChildSoaks(t *testing.T) {
	t.Parallel()
	w := promotiontest.New(t, promotiontest.Soaking)
	w.Stands("dev/shop", time.Time{}, "web:1.5.0@"+promotiontest.Digest("5"))
	w.Landed("dev/shop", time.Time{}, promotiontest.Ago(time.Hour), "web:1.3.0@"+promotiontest.Digest("3"))
	w.Stands("staging/shop", time.Time{}, "web:1.4.0@"+promotiontest.Digest("4"))
	if n := records(w); n != 1 {
		t.Errorf("%d places are written, want dev alone", n)
	}
	at, known := w.State.SeenSince(w.StateTarget("dev/shop"), promotiontest.Pinned("web:1.5.0@"+promotiontest.Digest("5")).ID())
	if !known || !at.Equal(promotiontest.Noon) {
		t.Errorf("seen at %v, %v", at, known)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d places are written", n)
	}
}

func TestStateUpdates_recordMinAgeOnce(t *testing.T) {
	t.Parallel()
	const text = `
version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1", minAge: 1h}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
`
	w := promotiontest.New(t, text)
	for _, target := range []string{"dev/a", "dev/b", "staging/a"} {
		w.Stands(target, promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:1.4.0@"+promotiontest.Digest("a"))
	}
	held := []promotion.HeldVersion{
		{Version: image.Version{Tag: "1.6.0", Digest: promotiontest.Digest("6")}},
		{Version: image.Version{Tag: "1.5.0", Digest: promotiontest.Digest("5")}},
		{Version: image.Version{Tag: "1.4.9"}},
	}
	w.Available["web"] = promotion.Available{Held: held}
	w.Available["worker"] = promotion.Available{Held: held}
	if n := records(w); n != 1 {
		t.Errorf("%d places are written", n)
	}
	versions := w.State.At(w.StateTarget("dev/a")).Versions
	if len(versions) != 2 || versions[0].Component != "web" || !versions[0].At.Equal(promotiontest.Noon) {
		t.Errorf("versions: %+v", versions)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d places are written", n)
	}
}

func TestStateUpdates_requests(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, target state.Target) *promotiontest.Scenario {
		t.Helper()
		w := promotiontest.New(t, manual)
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Stands("dev/held", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/held", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Decides(state.AddRequest(target, state.Request{Act: promotiontest.ByAda("")}),
			state.Hold(w.StateTarget("staging/held"), promotiontest.ByAda("")))
		return w
	}
	wanted := promotiontest.Pinned("web:1.6.0@" + promotiontest.Digest("6")).ID()
	t.Run("is bound to what is proposed, and done when that stands", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Target{Environment: "staging", Application: "shop"})
		records(w)
		request := w.State.At(w.StateTarget("staging/shop")).Request
		if request == nil || request.Snapshot != wanted {
			t.Fatalf("request: %+v", request)
		}
		if n := records(w); n != 0 {
			t.Errorf("the second time %d places are written", n)
		}
		w.Targets[w.Target("staging/shop")] = w.Targets[w.Target("dev/shop")]
		records(w)
		if request := w.State.At(w.StateTarget("staging/shop")).Request; request != nil {
			t.Errorf("request: %+v", request)
		}
	})
	t.Run("for an environment is handed on", func(t *testing.T) {
		t.Parallel()
		all := state.Target{Environment: "staging", Application: state.All}
		w := asking(t, all)
		records(w)
		if request := w.State.At(all).Request; request != nil {
			t.Errorf("of the environment: %+v", request)
		}
		if request := w.State.At(w.StateTarget("staging/shop")).Request; request == nil || request.Snapshot != wanted {
			t.Errorf("of what is proposed: %+v", request)
		}
		if request := w.State.At(w.StateTarget("staging/held")).Request; request == nil || request.Snapshot != "" {
			t.Errorf("of what waits: %+v", request)
		}
	})
}
