package decide_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

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
