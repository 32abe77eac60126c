package promotion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// records plans, writes down what must be remembered, and returns how many places
// of the state that changed.
func (w *world) records() int {
	w.t.Helper()
	before := w.State
	w.decides(promotion.StateUpdates(w.Observation, promotion.Plan(w.Observation, noon), noon)...)
	return len(w.State.Diff(before))
}

// settling waits for two minutes without a newer version.
const settling = components + `
applications: {"*": {settle: 2m}}
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: [dev]}
`

func TestPlan_settle(t *testing.T) {
	t.Parallel()
	available := func(w *world, at time.Time, text string) {
		w.offers(text)
		component, _, _ := strings.Cut(text, ":")
		v := pinnedTo(text)[component].Version
		w.decides(state.FirstOffered(w.statePlace("dev/shop"), state.Version{
			Component: component, Tag: v.Tag, Digest: v.Digest, At: at,
		}))
	}
	settling := func(t *testing.T) *world {
		t.Helper()
		w := lane(t, settling)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
		available(w, ago(3*time.Minute), "web:1.5.0@"+sha("5"))
		return w
	}
	t.Run("goes when it is over", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		d := w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
		want := promotion.Condition{Name: "settle", State: promotion.Passed, Value: "2m", Reason: "web 1.5.0 is offered since 2026-11-18T10:57:00Z"}
		if diff := cmp.Diff(want, condition(t, d, "settle")); diff != "" {
			t.Errorf("condition (-want +got):\n%s", diff)
		}
	})
	t.Run("a newer version of another component begins it again", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		available(w, ago(time.Minute), "worker:2.1.0@"+sha("1"))
		d := w.expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 is offered since 2026-11-18T10:59:00Z")
		if due := noon.Add(time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
	})
	t.Run("one that is seen now counts from now, and is remembered once", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		w.offers("worker:2.1.0@" + sha("1"))
		d := w.expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 is offered since 2026-11-18T11:00:00Z")
		if due := noon.Add(2 * time.Minute); !d.Reason.Until.Equal(due) {
			t.Errorf("until %v, want %v", d.Reason.Until, due)
		}
		if n := w.records(); n != 1 {
			t.Errorf("%d places are written", n)
		}
		at, known := w.State.OfferedAt(w.statePlace("dev/shop"), state.Version{Component: "worker", Tag: "2.1.0", Digest: sha("1")})
		if !known || !at.Equal(noon) {
			t.Errorf("offered at %v, %v", at, known)
		}
		if n := w.records(); n != 0 {
			t.Errorf("the second time %d places are written", n)
		}
	})
	t.Run("a clock ahead of ours counts as now", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		available(w, noon.Add(time.Hour), "worker:2.1.0@"+sha("1"))
		w.expect("dev/shop", promotion.Waiting, "settle: worker 2.1.0 is offered since 2026-11-18T11:00:00Z")
	})
	t.Run("a child does not settle", func(t *testing.T) {
		t.Parallel()
		w := settling(t)
		w.stands("staging/shop", ago(time.Hour), "web:1.3.0@"+sha("3"))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.3.0 -> 1.4.0")
	})
}

func TestUnrecorded_firstSeenWhereAChildSoaks(t *testing.T) {
	t.Parallel()
	w := lane(t, soaking)
	w.stands("dev/shop", time.Time{}, "web:1.5.0@"+sha("5"))
	w.landed("dev/shop", time.Time{}, ago(time.Hour), "web:1.3.0@"+sha("3"))
	w.stands("staging/shop", time.Time{}, "web:1.4.0@"+sha("4"))
	if n := w.records(); n != 1 {
		t.Errorf("%d places are written, want dev alone", n)
	}
	at, known := w.State.SeenAt(w.statePlace("dev/shop"), pinnedTo("web:1.5.0@"+sha("5")).ID())
	if !known || !at.Equal(noon) {
		t.Errorf("seen at %v, %v", at, known)
	}
	if n := w.records(); n != 0 {
		t.Errorf("the second time %d places are written", n)
	}
}

func TestUnrecorded_minAgeIsRememberedOnce(t *testing.T) {
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
	w := lane(t, text)
	for _, target := range []string{"dev/a", "dev/b", "staging/a"} {
		w.stands(target, ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:1.4.0@"+sha("a"))
	}
	held := []promotion.HeldVersion{
		{Version: image.Version{Tag: "1.6.0", Digest: sha("6")}},
		{Version: image.Version{Tag: "1.5.0", Digest: sha("5")}},
		{Version: image.Version{Tag: "1.4.9"}},
	}
	w.Available["web"] = promotion.Available{Held: held}
	w.Available["worker"] = promotion.Available{Held: held}
	if n := w.records(); n != 1 {
		t.Errorf("%d places are written", n)
	}
	versions := w.State.At(w.statePlace("dev/a")).Versions
	if len(versions) != 2 || versions[0].Component != "web" || !versions[0].At.Equal(noon) {
		t.Errorf("versions: %+v", versions)
	}
	if n := w.records(); n != 0 {
		t.Errorf("the second time %d places are written", n)
	}
}

func TestUnrecorded_requests(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, target state.Target) *world {
		t.Helper()
		w := lane(t, manual)
		w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.stands("dev/held", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.stands("staging/held", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.decides(state.Ask(target, state.Request{Act: byAda("")}),
			state.Hold(w.statePlace("staging/held"), byAda("")))
		return w
	}
	wanted := pinnedTo("web:1.6.0@" + sha("6")).ID()
	t.Run("is bound to what is proposed, and done when that stands", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Target{Environment: "staging", Application: "shop"})
		w.records()
		request := w.State.At(w.statePlace("staging/shop")).Request
		if request == nil || request.Snapshot != wanted {
			t.Fatalf("request: %+v", request)
		}
		if n := w.records(); n != 0 {
			t.Errorf("the second time %d places are written", n)
		}
		w.Targets[w.place("staging/shop")] = w.Targets[w.place("dev/shop")]
		w.records()
		if request := w.State.At(w.statePlace("staging/shop")).Request; request != nil {
			t.Errorf("request: %+v", request)
		}
	})
	t.Run("for an environment is handed on", func(t *testing.T) {
		t.Parallel()
		all := state.Target{Environment: "staging", Application: state.All}
		w := asking(t, all)
		w.records()
		if request := w.State.At(all).Request; request != nil {
			t.Errorf("of the environment: %+v", request)
		}
		if request := w.State.At(w.statePlace("staging/shop")).Request; request == nil || request.Snapshot != wanted {
			t.Errorf("of what is proposed: %+v", request)
		}
		if request := w.State.At(w.statePlace("staging/held")).Request; request == nil || request.Snapshot != "" {
			t.Errorf("of what waits: %+v", request)
		}
	})
}
