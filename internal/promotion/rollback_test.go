package promotion_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

func TestPlan_rollback(t *testing.T) {
	t.Parallel()
	rolling := func(t *testing.T) *world {
		t.Helper()
		w := lane(t, soaking)
		w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.answers("web:1.4.0@" + sha("4"))
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{
			Act: byAda("slow"), Images: images("web:1.4.0@" + sha("4")),
		}))
		return w
	}
	t.Run("goes past conditions, order and its own hold", func(t *testing.T) {
		t.Parallel()
		d := rolling(t).expect("staging/shop", promotion.Proposed,
			"rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
		if d.Reason.Rule != promotion.RuleRollback {
			t.Errorf("rule %s", d.Reason.Rule)
		}
	})
	t.Run("past what was taken back before", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Reverted[w.place("staging/shop")] = []promotion.Reversion{{Component: "web", Version: version("1.4.0@" + sha("4"))}}
		w.expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("the newer one is held until resume", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Targets[w.place("staging/shop")] = promotion.Current{}
		w.Landings[w.place("staging/shop")] = nil
		w.stands("staging/shop", ago(time.Minute), "web:1.4.0@"+sha("4"))
		w.Landings[w.place("dev/shop")][0].At = ago(9 * time.Hour)
		w.expect("staging/shop", promotion.Waiting, "held by ada since 2026-11-18: slow")
		w.decides(state.Resume(w.statePlace("staging/shop"), state.Act{At: noon}))
		w.expect("staging/shop", promotion.Proposed, "dev has: web 1.4.0 -> 1.6.0")
	})
	t.Run("not past a freeze", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.decides(state.Freeze("staging", byAda("audit"), nil))
		w.expect("staging/shop", promotion.Waiting, "staging is frozen by ada since 2026-11-18: audit")
	})
	t.Run("not to an image that is gone", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.Facts[promotion.Fact{Repository: repository("web"), Digest: sha("4")}] = image.Version{}
		w.expect("staging/shop", promotion.Waiting, "web 1.4.0: image missing: the registry has it no more")
	})
	t.Run("by its digest, wherever its tag points now", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.fact("web", "1.4.0", image.Version{Digest: sha("9")})
		w.expect("staging/shop", promotion.Proposed, "rolled back by ada on 2026-11-18: slow: web 1.5.0 -> 1.4.0")
	})
	t.Run("not where nothing is ever written", func(t *testing.T) {
		t.Parallel()
		w := lane(t, strings.Replace(soaking, "after: {dev: {soak: 1h}}", "after: [dev], propose: never", 1))
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.answers("web:1.4.0@" + sha("4"))
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{Act: byAda(""), Images: images("web:1.4.0@" + sha("4"))}))
		d := w.decide("staging/shop")
		if d.State != promotion.Waiting || d.Reason.Rule != promotion.RulePropose {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("names what it cannot read", func(t *testing.T) {
		t.Parallel()
		w := rolling(t)
		w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{
			Act: byAda(""), Images: map[string]string{"web": "quay.io/other/web:1.4.0"},
		}))
		w.expect("staging/shop", promotion.Waiting, `the rollback names "quay.io/other/web:1.4.0" for web, which is no image of it`)
	})
}

// The state branch alone brings nothing past the conditions: a rollback goes to
// what the history of the environment's branch holds, or nowhere.
func TestPlan_aRollbackToWhatNeverStoodHere(t *testing.T) {
	t.Parallel()
	for name, image := range map[string]string{
		"another version":          "web:1.9.0@" + sha("9"),
		"a digest under that tag":  "web:1.4.0@" + sha("9"),
		"a tag without its digest": "web:1.9.0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, soaking)
			w.stands("dev/shop", ago(time.Minute), "web:1.6.0@"+sha("6"))
			w.stands("staging/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
			w.landed("staging/shop", ago(9*time.Hour), ago(time.Hour), "web:1.4.0@"+sha("4"))
			w.answers(image)
			w.decides(state.Rollback(w.statePlace("staging/shop"), state.RolledBack{Act: byAda(""), Images: images(image)}))
			d := w.decide("staging/shop")
			if d.State != promotion.Waiting || !strings.Contains(d.Reason.Message, "which never stood here") {
				t.Errorf("%s: %s", d.State, d.Reason)
			}
		})
	}
}
