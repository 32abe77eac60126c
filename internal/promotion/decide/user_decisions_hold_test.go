package decide_test

import (
	"maps"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

func TestPlan_heldAndFrozen(t *testing.T) {
	t.Parallel()
	until := promotiontest.Noon.Add(time.Hour)
	tests := []struct {
		name   string
		change state.Change
		rule   promotion.Rule
		reason string
		until  time.Time
	}{
		{
			"held", state.Hold(state.Target{Environment: "dev", Application: "shop"}, promotiontest.ByAda("looks odd")),
			promotion.RuleHeld, "on hold by ada since 2026-11-18: looks odd",
			time.Time{},
		},
		{
			"the environment is frozen", state.Freeze("dev", promotiontest.ByAda("audit"), &until),
			promotion.RuleFrozen, "dev is frozen by ada since 2026-11-18: audit", until,
		},
		{
			"the repository is frozen", state.Freeze(state.All, promotiontest.ByAda(""), nil),
			promotion.RuleFrozen, "the repository is frozen by ada since 2026-11-18",
			time.Time{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Chain)
			w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
			w.Decides(test.change)
			d := w.Expect("dev/shop", promotion.Waiting, test.reason)
			if d.Reason.Rule != test.rule || !d.Reason.Until.Equal(test.until) || len(d.Moves) != 1 {
				t.Errorf("rule %s, until %v, moves %v", d.Reason.Rule, d.Reason.Until, d.Moves)
			}
		})
	}
	t.Run("nothing differs", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
		w.Decides(state.Freeze("dev", promotiontest.ByAda(""), nil))
		w.Expect("dev/shop", promotion.Same, "already up to date")
	})
	t.Run("it stands before other reasons to wait", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, diamond)
		w.Stands("a", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
		w.Stands("b", promotiontest.Ago(time.Hour), "web:1.6.0@"+promotiontest.Digest("6"))
		w.Stands("prod", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Decides(state.Freeze("prod", promotiontest.ByAda(""), nil))
		w.Expect("prod", promotion.Waiting, "prod is frozen by ada since 2026-11-18")
	})
	t.Run("a record that cannot be read", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
		read, err := state.Read(maps.All(map[string][]byte{"dev/shop.json": []byte("{")}))
		if err != nil {
			t.Fatal(err)
		}
		w.State = read
		if d := w.Decide("dev/shop"); d.State != promotion.Waiting || d.Reason.Rule != promotion.RuleHeld {
			t.Errorf("%s: %s", d.State, d.Reason)
		}
	})
	t.Run("a freeze that ended", func(t *testing.T) {
		t.Parallel()
		w := decidetest.New(t, decidetest.Chain)
		w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
		w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
		ended := promotiontest.Noon
		w.Decides(state.Freeze("dev", promotiontest.ByAda(""), &ended))
		w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4.0 -> 1.5.0")
	})
}
