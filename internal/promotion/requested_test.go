package promotion_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

// manual asks a person before staging.
var manual = strings.Replace(soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: manual", 1)

func TestPlan_requestForAManualEnvironment(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, request state.Request) *world {
		t.Helper()
		w := lane(t, manual)
		w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		request.Act = byAda("")
		w.decides(state.Ask(w.statePlace("staging/shop"), request))
		return w
	}
	t.Run("nobody asked", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.expect("staging/shop", promotion.Waiting, "propose is manual: waits until a person asks for it")
	})
	t.Run("the newest, while it is not bound", func(t *testing.T) {
		t.Parallel()
		d := asking(t, state.Request{}).expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
		if d.Request == nil || d.Request.By.Login != "ada" {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("the one it is bound to, though a newer one passes", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: pinnedTo("web:1.5.0@" + sha("5")).ID()})
		w.expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	})
	t.Run("bound to what is no candidate", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: "v1:other"})
		d := w.expect("staging/shop", promotion.Waiting, "propose is manual: another snapshot was asked for")
		if d.Request != nil {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("bound to what landed is done", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: pinnedTo("web:1.4.0@" + sha("4")).ID()})
		d := w.expect("staging/shop", promotion.Waiting, "propose is manual: waits until a person asks for it")
		if d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
	t.Run("for the environment", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.decides(state.Ask(state.Target{Environment: "staging", Application: state.All}, state.Request{Act: byAda("")}))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.Targets[w.place("staging/shop")] = w.Targets[w.place("dev/shop")]
		if d := w.expect("staging/shop", promotion.Same, "holds this already"); d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
}

func TestPlan_requestNamesVersions(t *testing.T) {
	t.Parallel()
	const ref = "quay.io/acme/web:1.4.3"
	asking := func(t *testing.T, config string) *world {
		t.Helper()
		w := lane(t, config)
		w.stands("dev/shop", ago(time.Hour), "web:1.6.0@"+sha("6"), "worker:2.1.0@"+sha("1"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
		w.stands("prod/shop", ago(time.Hour), "web:1.4.0@"+sha("4"), "worker:2.0.0@"+sha("0"))
		w.decides(state.Ask(w.statePlace("staging/shop"), state.Request{Act: byAda(""), With: []string{ref}}))
		w.Explicit = map[promotion.Target]map[string]promotion.Available{w.place("staging/shop"): {
			"web": {Version: version("1.4.3@" + sha("3")), Found: true, Explicit: true},
		}}
		return w
	}
	t.Run("what is here with these, past the order", func(t *testing.T) {
		t.Parallel()
		d := asking(t, chain).expect("staging/shop", promotion.Proposed, "asked for by ada: web 1.5.0 -> 1.4.3")
		if len(d.Moves) != 1 || d.Request == nil {
			t.Errorf("moves %v, request %v", d.Moves, d.Request)
		}
	})
	t.Run("conditions of what never stood before it", func(t *testing.T) {
		t.Parallel()
		asking(t, soaking).expect("staging/shop", promotion.Waiting, "dev soak: not eligible in dev: it never stood there")
	})
	t.Run("conditions of what did", func(t *testing.T) {
		t.Parallel()
		w := asking(t, soaking)
		w.landed("dev/shop", ago(9*time.Hour), ago(time.Hour), "web:1.4.3@"+sha("3"), "worker:1.0.0@"+sha("b"))
		w.expect("staging/shop", promotion.Proposed, "asked for by ada: web 1.5.0 -> 1.4.3")
	})
	t.Run("rejected stays rejected", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.decides(state.Reject(w.statePlace("staging/shop"), state.Rejection{Act: byAda(""), Images: images("web:1.4.3@" + sha("3"))}))
		w.expect("staging/shop", promotion.Rejected, "web 1.4.3 was rejected by ada on 2026-11-18")
	})
	t.Run("the registry has none", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Explicit[w.place("staging/shop")]["web"] = promotion.Available{Reason: "the registry has no " + ref}
		w.expect("staging/shop", promotion.Waiting, "web: the registry has no "+ref)
	})
	t.Run("the registry does not answer", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Explicit[w.place("staging/shop")]["web"] = promotion.Available{Err: errors.New("quay.io does not answer")}
		w.expect("staging/shop", promotion.Unanswered, "web: quay.io does not answer")
	})
	t.Run("nothing here refers to it", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Explicit = nil
		w.expect("staging/shop", promotion.Waiting, "ada asked for "+ref+", which nothing here refers to")
	})
	t.Run("what stands here already is done, and the place goes on", func(t *testing.T) {
		t.Parallel()
		w := asking(t, chain)
		w.Explicit[w.place("staging/shop")]["web"] = promotion.Available{Version: version("1.5.0@" + sha("5")), Found: true, Explicit: true}
		d := w.expect("staging/shop", promotion.Proposed, "dev has: web 1.5.0 -> 1.6.0, worker 2.0.0 -> 2.1.0")
		if d.Fulfilled == nil || d.Request != nil {
			t.Errorf("fulfilled %v, request %v", d.Fulfilled, d.Request)
		}
	})
}
