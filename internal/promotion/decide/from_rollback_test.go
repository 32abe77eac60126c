package decide_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// closedStaging is a config whose staging is closed.
const closedStaging = promotiontest.Components + "environments:\n  dev: {paths: ['dev/{application}']}\n" +
	"  staging: {paths: ['staging/{application}'], after: [dev], gates: {windows: [closed]}}\n" +
	"windows:\n  closed: {kind: deny, from: 2026-11-01, until: 2026-12-31, timeZone: UTC}\n"

// bypassingRollback rolls staging back from 1.5.0 to 1.4.0 while it is frozen, past some gates.
func bypassingRollback(t *testing.T, w *decidetest.Scenario, bypass ...string) *decidetest.Scenario {
	t.Helper()
	w.WithForge()
	w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
	w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	w.RegistryAnswers("web:1.4.0@" + promotiontest.Digest("4"))
	back := state.RolledBack{Act: promotiontest.ByAda("slow"), Images: promotiontest.Images("web:1.4.0@" + promotiontest.Digest("4")), Bypass: bypass}
	w.Decides(state.Rollback(w.StateTarget("staging/shop"), back), state.Freeze("staging", promotiontest.ByAda("audit"), nil))
	w.Bypasses = map[promotion.Target][]promotion.Bypass{w.Target("staging/shop"): {{Request: back.Bypassing()}}}
	return w
}

func TestPlan_rollback(t *testing.T) {
	t.Parallel()
	rolling := func(t *testing.T) *decidetest.Scenario {
		t.Helper()
		w := decidetest.New(t, decidetest.Soaking)
		w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.RegistryAnswers("web:1.4.0@" + promotiontest.Digest("4"))
		w.Decides(state.Rollback(w.StateTarget("staging/shop"), state.RolledBack{
			Act: promotiontest.ByAda("slow"), Images: promotiontest.Images("web:1.4.0@" + promotiontest.Digest("4")),
		}))
		return w
	}
	t.Run("goes past conditions, order and its own hold", func(t *testing.T) {
		t.Parallel()
		d := rolling(t).Expect("staging/shop", promotion.Proposed,
			"rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
		if d.Reason.Rule != promotion.RuleRollback {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("past what was taken back before", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Reverted[w.Target("staging/shop")] = []promotion.Reversion{{Component: "web", Version: promotiontest.Version("1.4.0@" + promotiontest.Digest("4"))}}
		w.Expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("the newer one is held until resume", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Targets[w.Target("staging/shop")] = promotion.Current{}
		w.Landings[w.Target("staging/shop")] = nil
		w.Stands("staging/shop", promotiontest.Ago(time.Minute), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Landings[w.Target("dev/shop")][0].At = promotiontest.Ago(9 * time.Hour)
		w.Expect("staging/shop", promotion.Waiting, "on hold by ada since 2026-11-18: slow")
		w.Decides(state.Resume(w.StateTarget("staging/shop"), state.Act{At: promotiontest.Noon}))
		w.Expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("past the gates and the freeze that a permitted user bypasses", func(t *testing.T) {
		t.Parallel()
		w := bypassingRollback(t, decidetest.New(t, closedStaging), "windows", "freeze")
		d := w.Expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
		var names []string
		for _, c := range d.Bypassed() {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ", "); got != "freeze, windows closed" || promotion.AttributionOf(d).RequestedBy != "ada" {
			t.Errorf("bypassed %s, %+v", got, promotion.AttributionOf(d))
		}

		// Without the permission, or with that for another rollback, it waits.
		checked := w.Bypasses[w.Target("staging/shop")][0]
		other := checked
		other.Request.At = other.Request.At.Add(time.Second)
		checked.Refused = map[string]string{"freeze": "not her"}
		for want, permitted := range map[string]promotion.Bypass{"not her": checked, "it was not checked": other} {
			w.Bypasses[w.Target("staging/shop")] = []promotion.Bypass{permitted}
			d := w.Decide("staging/shop")
			if d.State != promotion.Waiting || d.Reason.Message != "staging is frozen by ada since 2026-11-18: audit" {
				t.Errorf("%s: %s: %s", want, d.State, d.Reason)
			}
		}
		w.Decides(state.Thaw("staging"))
		w.Bypasses[w.Target("staging/shop")] = []promotion.Bypass{other}
		if gate := promotiontest.GateNamed(t, w.Decide("staging/shop").Gates, "windows closed"); !strings.Contains(gate.Reason, "not bypassed by ada: it was not checked") {
			t.Errorf("%+v", gate)
		}
	})
	t.Run("automatic: past windows, unless the server forbids it", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, closedStaging)
		bypassingRollback(t, w)
		w.Decides(state.Thaw("staging"))
		automatic := func(limit config.Limit, want promotion.ConditionState, reason string) {
			t.Helper()
			w.Limits = func(promotion.Deployment) config.Limit { return limit }
			gate := promotiontest.GateNamed(t, w.Decide("staging/shop").Gates, "windows closed")
			if gate.State != want || !strings.Contains(gate.Reason, reason) || gate.Bypassed {
				t.Errorf("%+v, want %s: %s", gate, want, reason)
			}
		}
		automatic(config.Limit{}, promotion.Pending, "closed") // of a user
		at := w.StateTarget("staging/shop")
		back := *w.State.At(at).Rollback
		back.Automatic = true
		w.Decides(state.Resume(at, state.Act{At: promotiontest.Ago(72 * time.Hour)}), state.Fail(at, state.Failure{Snapshot: "x"}, &back, promotiontest.Images("web:1.5.0@"+promotiontest.Digest("5"))))
		automatic(config.Limit{}, promotion.Passed, "an automatic rollback does not wait for windows")
		automatic(config.Limit{RollbackInWindows: true}, promotion.Pending, "the server lets no automatic rollback pass windows")
		w.Decides(state.Freeze("staging", promotiontest.ByAda("audit"), nil))
		w.Expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: audit")
	})
	t.Run("not past a freeze", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Decides(state.Freeze("staging", promotiontest.ByAda("audit"), nil))
		w.Expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: audit")
	})
	t.Run("not to an image that is gone", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Facts[promotion.Fact{Repository: promotiontest.Repository("web"), Digest: promotiontest.Digest("4")}] = image.Version{}
		w.Expect("staging/shop", promotion.Waiting, "web 1.4.0: image missing: no longer in the registry")
	})
	t.Run("by its digest, wherever its tag points now", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.AddFact("web", "1.4.0", image.Version{Digest: promotiontest.Digest("9")})
		w.Expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("not where nothing is ever written", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, strings.Replace(decidetest.Soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: never", 1))
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.RegistryAnswers("web:1.4.0@" + promotiontest.Digest("4"))
		w.Decides(state.Rollback(w.StateTarget("staging/shop"), state.RolledBack{Act: promotiontest.ByAda(""), Images: promotiontest.Images("web:1.4.0@" + promotiontest.Digest("4"))}))
		d := w.Decide("staging/shop")
		if d.State != promotion.Waiting || d.Reason.Rule != promotion.RulePropose {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("names what it cannot read", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Decides(state.Rollback(w.StateTarget("staging/shop"), state.RolledBack{
			Act: promotiontest.ByAda(""), Images: map[string]string{"web": "quay.io/other/web:1.4.0"},
		}))
		w.Expect("staging/shop", promotion.Waiting, `the rollback names "quay.io/other/web:1.4.0" for web, which is not an image of this component`)
	})
}

// The state branch alone brings nothing past the conditions: a rollback goes to
// what the history of the environment's branch holds, or nowhere.
func TestPlan_rollbackToWhatWasNeverHere(t *testing.T) {
	t.Parallel()
	for name, image := range map[string]string{
		"another version":          "web:1.9.0@" + promotiontest.Digest("9"),
		"a digest under that tag":  "web:1.4.0@" + promotiontest.Digest("9"),
		"a tag without its digest": "web:1.9.0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Soaking)
			w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
			w.Stands("staging/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
			w.Landed("staging/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			w.RegistryAnswers(image)
			w.Decides(state.Rollback(w.StateTarget("staging/shop"), state.RolledBack{Act: promotiontest.ByAda(""), Images: promotiontest.Images(image)}))
			d := w.Decide("staging/shop")
			if d.State != promotion.Waiting || !strings.Contains(d.Reason.Message, "which was never here") {
				t.Errorf("%s: %s", d.State, d.Reason)
			}
		})
	}
}
