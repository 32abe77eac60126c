package record_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/record"
	"promoter/internal/state"
)

// records plans, writes down what must be remembered, and returns how many targets
// of the state that changed.
func records(w *decidetest.Scenario) int {
	w.T.Helper()
	before := w.State
	w.Decides(record.Changes(w.Observation, w.Plan(promotiontest.Noon), promotiontest.Noon)...)
	return len(w.State.Diff(before))
}

func TestChanges_settlingVersionOnce(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, promotiontest.Components+`
applications: {"*": {settle: 2m}}
environments:
  dev: {paths: ["dev/{application}"]}
`)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"), "worker:2.0.0@"+promotiontest.Digest("0"))
	w.Publish("worker:2.1.0@" + promotiontest.Digest("1"))
	if n := records(w); n != 1 {
		t.Errorf("%d targets are written", n)
	}
	at, known := w.State.AvailableSince(w.StateTarget("dev/shop"), state.Version{Component: "worker", Tag: "2.1.0", Digest: promotiontest.Digest("1")})
	if !known || !at.Equal(promotiontest.Noon) {
		t.Errorf("available at %v, %v", at, known)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d targets are written", n)
	}
}

func TestChanges_firstSeenWhereAChildSoaks(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, decidetest.Soaking)
	w.Stands("dev/shop", time.Time{}, "web:1.5.0@"+promotiontest.Digest("5"))
	w.Landed("dev/shop", time.Time{}, promotiontest.Ago(time.Hour), "web:1.3.0@"+promotiontest.Digest("3"))
	w.Stands("staging/shop", time.Time{}, "web:1.4.0@"+promotiontest.Digest("4"))
	if n := records(w); n != 1 {
		t.Errorf("%d targets are written, want dev alone", n)
	}
	at, known := w.State.SeenSince(w.StateTarget("dev/shop"), promotiontest.Pinned("web:1.5.0@"+promotiontest.Digest("5")).ID())
	if !known || !at.Equal(promotiontest.Noon) {
		t.Errorf("seen at %v, %v", at, known)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d targets are written", n)
	}
}

func TestChanges_recordMinAgeOnce(t *testing.T) {
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
	w := decidetest.New(t, text)
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
		t.Errorf("%d targets are written", n)
	}
	versions := w.State.At(w.StateTarget("dev/a")).Versions
	if len(versions) != 2 || versions[0].Component != "web" || !versions[0].At.Equal(promotiontest.Noon) {
		t.Errorf("versions: %+v", versions)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d targets are written", n)
	}
}

func TestChanges_requests(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T, target state.Target) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, strings.Replace(decidetest.Soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: manual", 1))
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Stands("dev/held", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/held", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Decides(state.AddRequest(target, state.Request{Act: promotiontest.ByAda("")}),
			state.Hold(w.StateTarget("staging/held"), promotiontest.ByAda("")))
		return w
	}
	wanted := promotiontest.Pinned("web:1.6.0@" + promotiontest.Digest("6")).ID()
	t.Run("is bound to what is proposed, and done when that is in the files", func(t *testing.T) {
		t.Parallel()
		w := asking(t, state.Target{Environment: "staging", Application: "shop"})
		records(w)
		request := w.State.At(w.StateTarget("staging/shop")).Request
		if request == nil || request.Snapshot != wanted {
			t.Fatalf("request: %+v", request)
		}
		if n := records(w); n != 0 {
			t.Errorf("the second time %d targets are written", n)
		}
		w.Targets[w.Target("staging/shop")] = w.Targets[w.Target("dev/shop")]
		records(w)
		if request := w.State.At(w.StateTarget("staging/shop")).Request; request != nil {
			t.Errorf("request: %+v", request)
		}
	})
	t.Run("for an environment is passed on to its applications", func(t *testing.T) {
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

// A request whose versions can no longer come is replaced by the reason, once.
func TestChanges_requestThatEnds(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, strings.Replace(decidetest.Chain, "after: [dev]}", "after: [dev], propose: manual}", 1))
	w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	request := state.Request{Act: promotiontest.ByAda(""), For: promotiontest.Images("web:1.5.0@" + promotiontest.Digest("5"))}
	w.Decides(state.AddRequest(w.StateTarget("staging/shop"), request))
	records(w)
	own := w.State.At(w.StateTarget("staging/shop"))
	if own.Request != nil || own.EndedRequest == nil || own.EndedRequest.Why != "dev has web 1.6.0" || own.EndedRequest.By.Login != "ada" {
		t.Errorf("request: %+v, ended: %+v", own.Request, own.EndedRequest)
	}
	if n := records(w); n != 0 {
		t.Errorf("the second time %d targets are written", n)
	}
}
