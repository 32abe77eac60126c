package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

func TestPlan_soakWithForge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		see    func(w *decidetest.Scenario)
		state  promotion.State
		reason string
		until  time.Duration // after noon; 0: none
	}{
		{
			"soaked to the second",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
			},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"not yet",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(59*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
			},
			promotion.Waiting, "dev soak: present since 2026-11-18T10:01:00Z", time.Minute,
		},
		{
			"a time that is not yet counts as now",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(-5*time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
			},
			promotion.Waiting, "dev soak: present since 2026-11-18T11:00:00Z", time.Hour,
		},
		{
			"no time is known",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", time.Time{}, "web:1.5.0@"+promotiontest.Digest("5"))
			},
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"no landing is known",
			func(w *decidetest.Scenario) {
				w.Has("dev/shop", "web:1.5.0@"+promotiontest.Digest("5"))
				w.RegistryAnswers("web:1.5.0@" + promotiontest.Digest("5"))
			},
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"landings in a row that hold the same count together",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.1.0@"+promotiontest.Digest("1"))
				w.Landed("dev/shop", promotiontest.Ago(2*time.Hour), promotiontest.Ago(time.Minute), "web:1.5.0@"+promotiontest.Digest("5"), "worker:2.0.0@"+promotiontest.Digest("0"))
			},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"the oldest provable time, where the oldest is not known",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
				w.Landed("dev/shop", promotiontest.Ago(30*time.Minute), promotiontest.Ago(10*time.Minute), "web:1.5.1@"+promotiontest.Digest("5"))
				w.Landed("dev/shop", time.Time{}, promotiontest.Ago(30*time.Minute), "web:1.5.1@"+promotiontest.Digest("5"))
			},
			promotion.Waiting, "dev soak: present since 2026-11-18T10:30:00Z", 30 * time.Minute,
		},
		{
			"it begins again when it comes back",
			func(w *decidetest.Scenario) {
				w.Stands("dev/shop", promotiontest.Ago(10*time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
				w.Landed("dev/shop", promotiontest.Ago(30*time.Minute), promotiontest.Ago(10*time.Minute), "web:1.5.0@"+promotiontest.Digest("5"))
				w.Landed("dev/shop", promotiontest.Ago(9*time.Hour), promotiontest.Ago(30*time.Minute), "web:1.6.0@"+promotiontest.Digest("6"))
			},
			promotion.Waiting, "dev soak: present since 2026-11-18T10:50:00Z", 50 * time.Minute,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := decidetest.New(t, decidetest.Soaking)
			test.see(w)
			w.Stands("staging/shop", promotiontest.Ago(9*time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
			d := w.Expect("staging/shop", test.state, test.reason)
			want := time.Time{}
			if test.until != 0 {
				want = promotiontest.Noon.Add(test.until)
			}
			if !d.Reason.Until.Equal(want) {
				t.Errorf("until %v, want %v", d.Reason.Until, want)
			}
		})
	}
}
