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

var web7 = "web:1.7.0@" + promotiontest.Digest("7")

// requesting is a scenario in which staging has 1.4.0, and ada requested 1.5.0 for it when dev had that; dev has
// 1.6.0 since.
func requesting(t *testing.T, config string, request state.Request) *decidetest.Scenario {
	t.Helper()
	w := decidetest.New(t, config)
	w.Stands("dev/shop", promotiontest.Ago(time.Minute), web6)
	w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Minute), web5)
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), web4)
	request.Act = promotiontest.ByAda("")
	w.Decides(state.AddRequest(w.StateTarget("staging/shop"), request))
	return w
}

func forWeb(text string) state.Request { return state.Request{For: promotiontest.Images(text)} }

// ends decides, expects that the request ends for a reason, and that this is recorded and noted from then on.
func ends(t *testing.T, w *decidetest.Scenario, why string) promotion.Decision {
	t.Helper()
	d := w.Decide("staging/shop")
	if d.Ended == nil || d.Ended.Reason.Message != why || d.Request != nil || d.Requested != nil {
		t.Fatalf("ended: %+v, request: %+v, want %q; it is %s: %s", d.Ended, d.Request, why, d.State, d.Reason)
	}
	w.Decides(state.EndRequest(w.StateTarget("staging/shop"), d.Ended.Request, d.Ended.Reason.Message, promotiontest.Noon))
	record := w.State.At(w.StateTarget("staging/shop"))
	if record.Request != nil || record.EndedRequest == nil || record.EndedRequest.Why != why {
		t.Fatalf("recorded: %+v", record)
	}
	again := w.Decide("staging/shop")
	if again.Ended != nil || again.State != d.State || again.Reason != d.Reason {
		t.Errorf("then it is %s: %s, ended %v; it was %s: %s", again.State, again.Reason, again.Ended, d.State, d.Reason)
	}
	if again.State != promotion.Same && !notes(again, "ended: "+why) {
		t.Errorf("notes: %v", again.Notes)
	}
	return d
}

func notes(d promotion.Decision, text string) bool {
	for _, note := range d.Notes {
		if note.Rule == promotion.RuleRequestEnded && strings.Contains(note.Message, text) {
			return true
		}
	}
	return false
}

func TestPlan_requestIsForWhatTheUserSaw(t *testing.T) {
	t.Parallel()
	t.Run("though the parent has a newer one", func(t *testing.T) {
		t.Parallel()
		d := requesting(t, manual, forWeb(web5)).Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
		if d.Request == nil || d.Ended != nil {
			t.Errorf("request: %+v, ended: %+v", d.Request, d.Ended)
		}
	})
	t.Run("it waits while the environment is frozen", func(t *testing.T) {
		t.Parallel()
		w := requesting(t, manual, forWeb(web5))
		w.Decides(state.Freeze("staging", promotiontest.ByAda(""), nil))
		d := w.Expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18")
		if move, _ := promotion.MoveOf(d.Moves, "web"); move.To.Tag != "1.5.0" || d.Ended != nil {
			t.Errorf("moves: %v, ended: %+v", d.Moves, d.Ended)
		}
	})
	t.Run("though the newer one is rejected", func(t *testing.T) {
		t.Parallel()
		w := requesting(t, manual, forWeb(web5))
		w.Decides(state.Reject(w.StateTarget("staging/shop"), state.Rejection{Act: promotiontest.ByAda(""), Images: promotiontest.Images(web6)}))
		w.Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
	})
	t.Run("it waits for its own conditions", func(t *testing.T) {
		t.Parallel()
		w := requesting(t, strings.Replace(manual, "after: [dev]", "after: {dev: {soak: 1h}}", 1), forWeb(web6))
		w.Expect("staging/shop", promotion.Waiting, "dev soak: present since 2026-11-18T10:59:00Z")
	})
	t.Run("it waits for what is not in the parent yet", func(t *testing.T) {
		t.Parallel()
		d := requesting(t, manual, forWeb(web7)).Expect("staging/shop", promotion.Waiting,
			"propose is manual: another snapshot was requested, web 1.7.0")
		if d.Ended != nil {
			t.Errorf("ended: %+v", d.Ended)
		}
	})
	t.Run("it is done when the files have it, whatever else changed", func(t *testing.T) {
		t.Parallel()
		w := requesting(t, manual, forWeb(web4))
		if d := w.Expect("staging/shop", promotion.Waiting, "propose is manual: waiting for a request"); d.Fulfilled == nil || d.Ended != nil {
			t.Errorf("fulfilled: %v, ended: %v", d.Fulfilled, d.Ended)
		}
	})
	t.Run("it bypasses nothing for another version", func(t *testing.T) {
		t.Parallel()
		soaks := decidetest.Soaking
		request := forWeb(web5)
		request.Bypass = []string{"soak"}
		w := requesting(t, soaks, request)
		w.Landings[w.Target("dev/shop")][1].At = promotiontest.Ago(2 * time.Minute) // it soaked for a minute
		own := *w.State.At(w.StateTarget("staging/shop")).Request
		w.Bypasses = map[promotion.Target][]promotion.Bypass{w.Target("staging/shop"): {{Request: own}}}
		d := w.Expect("staging/shop", promotion.Proposed, "dev had: web 1.4.0 -> 1.5.0")
		if len(d.Bypassed()) != 1 {
			t.Errorf("bypassed: %v", d.Bypassed())
		}
	})
}

func TestPlan_requestEnds(t *testing.T) {
	t.Parallel()
	rejected := func(w *decidetest.Scenario, target string) {
		w.Decides(state.Reject(w.StateTarget(target), state.Rejection{Act: promotiontest.ByAda("broken"), Images: promotiontest.Images(web5)}))
	}
	for name, test := range map[string]struct {
		request state.Request
		change  func(w *decidetest.Scenario)
		why     string
	}{
		"rejected": {
			forWeb(web5), func(w *decidetest.Scenario) { rejected(w, "staging/shop") },
			"web 1.5.0 was rejected by ada on 2026-11-18: broken",
		},
		"rejected in the parent": {
			forWeb(web5), func(w *decidetest.Scenario) { rejected(w, "dev/shop") },
			"dev: web 1.5.0 was rejected by ada on 2026-11-18: broken",
		},
		"reverted in the parent": {
			forWeb(web5), func(w *decidetest.Scenario) { w.Landings[w.Target("dev/shop")][1].Reverted = true },
			"dev: it was reverted there",
		},
		"reverted": {
			forWeb(web5), func(w *decidetest.Scenario) {
				w.Reverted = map[promotion.Target][]promotion.Reversion{w.Target("staging/shop"): {{Component: "web", Version: promotiontest.Version("1.5.0@" + promotiontest.Digest("5"))}}}
			}, "web 1.5.0 was here before and was reverted",
		},
		"replaced before it was in the parent": {forWeb("web:1.5.5@" + promotiontest.Digest("e")), nil, "dev has web 1.6.0"},
		"newer here": {
			forWeb(web5), func(w *decidetest.Scenario) {
				w.Targets[w.Target("staging/shop")] = promotion.Current{}
				w.Has("staging/shop", web7)
			}, "already at web 1.7.0, which is newer than 1.5.0",
		},
		"without a reference": {state.Request{For: promotiontest.Images("worker:2.0.0@" + promotiontest.Digest("0"))}, nil, "no file here references worker any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := requesting(t, manual, test.request)
			if test.change != nil {
				test.change(w)
			}
			ends(t, w, test.why)
		})
	}
	t.Run("replaced before it had soaked", func(t *testing.T) {
		t.Parallel()
		w := requesting(t, strings.Replace(manual, "after: [dev]", "after: {dev: {soak: 12h}}", 1), forWeb(web5))
		ends(t, w, "dev soak: present from 2026-11-18T02:00:00Z until 2026-11-18T10:59:00Z")
	})
	t.Run("of a tag that moved", func(t *testing.T) {
		t.Parallel()
		request := forWeb(web5)
		request.With = []string{"quay.io/acme/web:1.5.0"}
		w := requesting(t, decidetest.Chain, request)
		w.Explicit = map[promotion.Target]map[string]promotion.Available{w.Target("staging/shop"): {
			"web": {Version: promotiontest.Version("1.5.0@" + promotiontest.Digest("e")), Found: true, Explicit: true},
		}}
		ends(t, w, "tag moved: web 1.5.0 now points to sha256:eeeeeeeeeeee instead of sha256:555555555555")
	})
	t.Run("where the registry has a newer one", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, strings.Replace(decidetest.Chain, `dev: {paths: ["dev/{application}"]`, `dev: {paths: ["dev/{application}"], propose: manual`, 1))
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), web4)
		w.Publish(web5)
		request := forWeb(web5)
		request.Act = promotiontest.ByAda("")
		w.Decides(state.AddRequest(w.StateTarget("dev/shop"), request))
		w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
		w.Publish(web6)
		d := w.Expect("dev/shop", promotion.Waiting, "propose is manual: waiting for a request")
		if d.Ended == nil || d.Ended.Reason.Message != "the registry has web 1.6.0" {
			t.Errorf("ended: %+v", d.Ended)
		}
	})
}
