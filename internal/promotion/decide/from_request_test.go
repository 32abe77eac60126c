package decide_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// manual asks a person before staging.
var manual = strings.Replace(decidetest.Soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: manual", 1)

func TestPlan_requestForAManualEnvironment(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, request state.Request) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, manual)
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		request.Act = promotiontest.ByAda("")
		w.Decides(state.AddRequest(w.StateTarget("staging/shop"), request))
		return w
	}
	t.Run("nobody asked", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.Expect("staging/shop", promotion.Waiting, "propose is manual: waiting for a request")
	})
	t.Run("the newest, while it is not bound", func(t *testing.T) {
		t.Parallel()
		d := asking(t, state.Request{}).Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
		if d.Request == nil || d.Request.By.Login != "ada" {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("the one it is bound to, though a newer one passes", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: promotiontest.Pinned("web:1.5.0@" + promotiontest.Digest("5")).ID()})
		w.Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	})
	t.Run("bound to what is no candidate", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: "v1:other"})
		d := w.Expect("staging/shop", promotion.Waiting, "propose is manual: another snapshot was requested")
		if d.Request != nil {
			t.Errorf("request: %+v", d.Request)
		}
	})
	t.Run("bound to what landed is done", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{Snapshot: promotiontest.Pinned("web:1.4.0@" + promotiontest.Digest("4")).ID()})
		d := w.Expect("staging/shop", promotion.Waiting, "propose is manual: waiting for a request")
		if d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
	t.Run("for the environment", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.State = state.State{}
		w.Decides(state.AddRequest(state.Target{Environment: "staging", Application: state.All}, state.Request{Act: promotiontest.ByAda("")}))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Request{})
		w.Targets[w.Target("staging/shop")] = w.Targets[w.Target("dev/shop")]
		if d := w.Expect("staging/shop", promotion.Same, "already up to date"); d.Fulfilled == nil {
			t.Error("the request is not told as done")
		}
	})
}

func TestPlan_requestNamesVersions(t *testing.T) {
	t.Parallel()
	const ref = "quay.io/acme/web:1.4.3"
	asking := func(t *testing.T, config string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, config)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"), "worker:2.1.0@"+promotiontest.Digest("1"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
		w.Stands("prod/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
		w.Decides(state.AddRequest(w.StateTarget("staging/shop"), state.Request{Act: promotiontest.ByAda(""), With: []string{ref}}))
		w.Explicit = map[promotion.Target]map[string]promotion.Available{w.Target("staging/shop"): {
			"web": {Version: promotiontest.Version("1.4.3@" + promotiontest.Digest("3")), Found: true, Explicit: true},
		}}
		return w
	}
	t.Run("what is here with these, past the order", func(t *testing.T) {
		t.Parallel()
		d := asking(t, decidetest.Chain).Expect("staging/shop", promotion.Proposed, "requested by ada: web 1.5.0 -> 1.4.3")
		if len(d.Moves) != 1 || d.Request == nil {
			t.Errorf("moves %v, request %v", d.Moves, d.Request)
		}
	})
	t.Run("conditions of what never stood before it", func(t *testing.T) {
		t.Parallel()
		asking(t, decidetest.Soaking).Expect("staging/shop", promotion.Waiting, "dev soak: not eligible in dev: it was never there")
	})
	t.Run("conditions of what did", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Soaking)
		w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.3@"+promotiontest.Digest("3"), "worker:1.0.0@"+promotiontest.Digest("b"))
		w.Expect("staging/shop", promotion.Proposed, "requested by ada: web 1.5.0 -> 1.4.3")
	})
	t.Run("what is here is rejected: as a rollback without history", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Decides(state.Reject(w.StateTarget("staging/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:1.5.0@" + promotiontest.Digest("5"))}))
		w.Expect("staging/shop", promotion.Proposed, "requested by ada: web 1.5.0 -> 1.4.3")
	})
	t.Run("a hold stops it", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Decides(state.Hold(w.StateTarget("staging/shop"), promotiontest.ByAda("")))
		w.Expect("staging/shop", promotion.Waiting, "on hold by ada since 2026-11-18")
	})
	t.Run("rejected stays rejected", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Decides(state.Reject(w.StateTarget("staging/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:1.4.3@" + promotiontest.Digest("3"))}))
		w.Expect("staging/shop", promotion.Rejected, "web 1.4.3 was rejected by ada on 2026-11-18")
	})
	t.Run("the registry has none", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Explicit[w.Target("staging/shop")]["web"] = promotion.Available{Reason: "the registry has no " + ref}
		w.Expect("staging/shop", promotion.Waiting, "web: the registry has no "+ref)
	})
	t.Run("the registry does not answer", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Explicit[w.Target("staging/shop")]["web"] = promotion.Available{Err: errors.New("quay.io does not answer")}
		w.Expect("staging/shop", promotion.Unanswered, "web: quay.io does not answer")
	})
	t.Run("nothing here refers to it", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Explicit = nil
		w.Expect("staging/shop", promotion.Waiting, "ada requested "+ref+", which no file here references")
	})
	t.Run("what stands here already is done, and the place goes on", func(t *testing.T) {
		t.Parallel()
		w := asking(t, decidetest.Chain)
		w.Explicit[w.Target("staging/shop")]["web"] = promotion.Available{Version: promotiontest.Version("1.5.0@" + promotiontest.Digest("5")), Found: true, Explicit: true}
		d := w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.5.0 -> 1.6.0, worker 2.0.0 -> 2.1.0")
		if d.Fulfilled == nil || d.Request != nil {
			t.Errorf("fulfilled %v, request %v", d.Fulfilled, d.Request)
		}
	})
}

// A request bypasses only what its user may bypass now; images are verified all the same.
func TestPlan_bypass(t *testing.T) {
	t.Parallel()
	config := strings.Replace(decidetest.Soaking, "after: {dev: {soak: 1h}}", "after: {dev: {soak: 1h}}, gates: {windows: [closed], approvals: {count: 1}}", 1) +
		"windows:\n  closed: {kind: deny, from: 2026-11-01, until: 2026-12-31, timeZone: UTC}\n"
	everything := []string{"soak", "windows", "approvals", "freeze"}
	bypassing := func(t *testing.T, names ...string) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, config).WithForge()
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		request := state.Request{Act: promotiontest.ByAda("incident 42"), Bypass: names}
		w.Decides(state.AddRequest(w.StateTarget("staging/shop"), request), state.Freeze("staging", promotiontest.ByAda("holiday"), nil))
		w.Bypasses = map[promotion.Target][]promotion.Bypass{w.Target("staging/shop"): {{Request: request}}}
		return w
	}
	const soaks = "dev soak: present since 2026-11-18T10:59:00Z"
	t.Run("with the permission", func(t *testing.T) {
		t.Parallel()
		d := bypassing(t, everything...).Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
		var names []string
		for _, c := range d.Bypassed() {
			names = append(names, c.Name)
			if c.State != promotion.Passed || !strings.HasPrefix(c.Reason, "bypassed by ada: incident 42; ") || c.Until != nil {
				t.Errorf("%+v", c)
			}
		}
		if got := strings.Join(names, ", "); got != "dev soak, freeze, windows closed, approvals" {
			t.Errorf("bypassed %s", got)
		}
		a := promotion.AttributionOf(d)
		if a.RequestedBy != "ada" || a.Reason != "incident 42" || len(a.Bypassed) != 4 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("only what it names", func(t *testing.T) {
		t.Parallel()
		bypassing(t, "soak").Expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: holiday")
		bypassing(t, "freeze").Expect("staging/shop", promotion.Waiting, soaks)
		d := bypassing(t, "soak", "freeze").Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
		if blocking, blocked := promotion.FirstBlocking(d.Gates, false); !blocked || blocking.Name != "windows closed" {
			t.Errorf("gates: %+v", d.Gates)
		}
	})
	t.Run("without the permission", func(t *testing.T) {
		t.Parallel()
		w := bypassing(t, everything...)
		target := w.Target("staging/shop")
		refused := w.Bypasses[target][0]
		refused.Refused = map[string]string{"soak": "not her"}
		w.Bypasses[target] = []promotion.Bypass{refused}
		d := w.Decide("staging/shop")
		if d.State != promotion.Waiting || !strings.Contains(d.Reason.Message, "not bypassed by ada: not her") {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
		// A permission for another request, such as one that replaced it, is none.
		later, nobody, less := refused.Request, refused.Request, refused.Request
		later.At = later.At.Add(time.Second)
		nobody.By = identity.User{}
		less.Bypass = []string{"windows"} // in the same second
		for _, other := range []state.Request{later, nobody, less} {
			w.Bypasses[target] = []promotion.Bypass{{Request: other}}
			if d := w.Decide("staging/shop"); d.State != promotion.Waiting || len(d.Bypassed()) > 0 {
				t.Errorf("%+v: %s: %s", other, d.State, d.Reason)
			}
		}
		w.Bypasses = nil
		w.Expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: holiday")
	})
	t.Run("not a hold, a rejection, or an image", func(t *testing.T) {
		t.Parallel()
		w := bypassing(t, everything...)
		w.Decides(state.Hold(w.StateTarget("staging/shop"), promotiontest.ByAda("")))
		w.Expect("staging/shop", promotion.Waiting, "on hold by ada since 2026-11-18")
		w = bypassing(t, everything...)
		w.Reject("staging/shop", "web:1.6.0@"+promotiontest.Digest("6"))
		if d := w.Decide("staging/shop"); d.State != promotion.Rejected {
			t.Errorf("rejected: %s: %s", d.State, d.Reason)
		}
		w = bypassing(t, everything...)
		w.AddFact("web", "1.6.0", promotiontest.Version("1.6.0@"+promotiontest.Digest("9")))
		if d := w.Decide("staging/shop"); d.State != promotion.Waiting || !strings.Contains(d.Reason.Message, "tag moved") {
			t.Errorf("tag moved: %s: %s", d.State, d.Reason)
		}
	})
	t.Run("not the changes that users request", func(t *testing.T) {
		t.Parallel()
		w := bypassing(t, everything...)
		w.Open = map[string]promotion.Open{"promoter/staging/shop": {
			Number: 7, Head: "promoter/staging/shop", Snapshots: promotiontest.SnapshotsOf("shop", "web:1.6.0@"+promotiontest.Digest("6")), Objections: []string{"ben"},
		}}
		if blocking, blocked := promotion.FirstBlocking(w.Decide("staging/shop").Gates, false); !blocked || blocking.Reason != "changes requested by ben" {
			t.Errorf("%+v", blocking)
		}
	})
}
