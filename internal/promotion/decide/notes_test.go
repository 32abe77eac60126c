package decide_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// A target without a pending move names the nearest upstream environment that does not
// have a newer version yet, and the freeze that is in effect.
func TestPlan_notes(t *testing.T) {
	t.Parallel()
	w := decidetest.New(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"]}
  staging: {paths: ["staging/{application}"], after: {dev: {soak: 2h}}}
  prod: {paths: ["prod/{application}"], after: [staging]}
`)
	w.Stands("dev/shop", promotiontest.Ago(time.Hour), "web:1.5.0@"+promotiontest.Digest("5"))
	for _, target := range []string{"staging/shop", "prod/shop"} {
		w.Stands(target, promotiontest.Ago(time.Hour), "web:1.4.0@"+promotiontest.Digest("4"))
	}
	w.Publish("web:1.5.0@" + promotiontest.Digest("5"))
	w.Decides(state.Freeze("prod", promotiontest.ByAda("audit"), nil))
	if notes := w.Decide("dev/shop").Notes; len(notes) > 0 {
		t.Errorf("dev has notes: %v", notes)
	}
	notes := w.Expect("prod/shop", promotion.Same, "already up to date").Notes
	want := []string{
		"prod is frozen by ada since 2026-11-18: audit",
		"web 1.5.0 is waiting in staging: dev soak: present since 2026-11-18T10:00:00Z",
	}
	if len(notes) != 2 || notes[0].Message != want[0] || notes[1].Message != want[1] || !notes[1].Until.Equal(promotiontest.Ago(time.Hour).Add(2*time.Hour)) {
		t.Errorf("got %v, want %v", notes, want)
	}
}
