package promotion_test

import (
	"maps"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/state"
)

func TestPlan_heldAndFrozen(t *testing.T) {
	t.Parallel()
	until := noon.Add(time.Hour)
	tests := []struct {
		name   string
		change state.Change
		rule   promotion.Rule
		reason string
		until  time.Time
	}{
		{
			"held", state.Hold(state.Target{Environment: "dev", Application: "shop"}, byAda("looks odd")),
			promotion.RuleHeld, "held by ada since 2026-11-18: looks odd",
			time.Time{},
		},
		{
			"the environment is frozen", state.Freeze("dev", byAda("audit"), &until),
			promotion.RuleFrozen, "dev is frozen by ada since 2026-11-18: audit", until,
		},
		{
			"the repository is frozen", state.Freeze(state.All, byAda(""), nil),
			promotion.RuleFrozen, "the repository is frozen by ada since 2026-11-18",
			time.Time{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, chain)
			w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
			w.offers("web:1.5.0@" + sha("5"))
			w.decides(test.change)
			d := w.expect("dev/shop", promotion.Waiting, test.reason)
			if d.Reason.Rule != test.rule || !d.Reason.Until.Equal(test.until) || len(d.Moves) != 1 {
				t.Errorf("rule %s, until %v, moves %v", d.Reason.Rule, d.Reason.Until, d.Moves)
			}
		})
	}
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.offers("web:1.5.0@" + sha("5"))
		w.decides(state.Freeze("dev", byAda(""), nil))
		w.expect("dev/shop", promotion.Same, "holds this already")
	})
	t.Run("it stands before other reasons to wait", func(t *testing.T) {
		t.Parallel()
		w := lane(t, diamond)
		w.stands("a", ago(time.Hour), "web:1.5.0@"+sha("5"))
		w.stands("b", ago(time.Hour), "web:1.6.0@"+sha("6"))
		w.stands("prod", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.decides(state.Freeze("prod", byAda(""), nil))
		w.expect("prod", promotion.Waiting, "prod is frozen by ada since 2026-11-18")
	})
	t.Run("a record that cannot be read", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.offers("web:1.5.0@" + sha("5"))
		read, err := state.Read(maps.All(map[string][]byte{"dev/shop.json": []byte("{")}))
		if err != nil {
			t.Fatal(err)
		}
		w.State = read
		if d := w.decide("dev/shop"); d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleHeld {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("a freeze that ended", func(t *testing.T) {
		t.Parallel()
		w := lane(t, chain)
		w.stands("dev/shop", ago(time.Hour), "web:1.4.0@"+sha("4"))
		w.offers("web:1.5.0@" + sha("5"))
		ended := noon
		w.decides(state.Freeze("dev", byAda(""), &ended))
		w.expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	})
}
