package promotion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion"
)

func TestPlan_soakInLanes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		see    func(w *world)
		state  promotion.State
		reason string
		until  time.Duration // after noon; 0: none
	}{
		{
			"soaked to the second",
			func(w *world) { w.stands("dev/shop", ago(time.Hour), "web:1.5.0@"+sha("5")) },
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"not yet",
			func(w *world) { w.stands("dev/shop", ago(59*time.Minute), "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: there since 2026-11-18T10:01:00Z", time.Minute,
		},
		{
			"a time that is not yet counts as now",
			func(w *world) { w.stands("dev/shop", ago(-5*time.Hour), "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: there since 2026-11-18T11:00:00Z", time.Hour,
		},
		{
			"no time is known",
			func(w *world) { w.stands("dev/shop", time.Time{}, "web:1.5.0@"+sha("5")) },
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"no landing is known",
			func(w *world) {
				w.has("dev/shop", "web:1.5.0@"+sha("5"))
				w.answers("web:1.5.0@" + sha("5"))
			},
			promotion.Waiting, "dev soak: first seen now", time.Hour,
		},
		{
			"landings in a row that hold the same count together",
			func(w *world) {
				w.stands("dev/shop", ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.1.0@"+sha("1"))
				w.landed("dev/shop", ago(2*time.Hour), ago(time.Minute), "web:1.5.0@"+sha("5"), "worker:2.0.0@"+sha("0"))
			},
			promotion.Proposed, "dev has: web 1.4.0 -> 1.5.0", 0,
		},
		{
			"the oldest provable time, where the oldest is not known",
			func(w *world) {
				w.stands("dev/shop", ago(10*time.Minute), "web:1.5.0@"+sha("5"))
				w.landed("dev/shop", ago(30*time.Minute), ago(10*time.Minute), "web:1.5.1@"+sha("5"))
				w.landed("dev/shop", time.Time{}, ago(30*time.Minute), "web:1.5.1@"+sha("5"))
			},
			promotion.Waiting, "dev soak: there since 2026-11-18T10:30:00Z", 30 * time.Minute,
		},
		{
			"it begins again when it comes back",
			func(w *world) {
				w.stands("dev/shop", ago(10*time.Minute), "web:1.6.0@"+sha("6"))
				w.landed("dev/shop", ago(30*time.Minute), ago(10*time.Minute), "web:1.5.0@"+sha("5"))
				w.landed("dev/shop", ago(9*time.Hour), ago(30*time.Minute), "web:1.6.0@"+sha("6"))
			},
			promotion.Waiting, "dev soak: there since 2026-11-18T10:50:00Z", 50 * time.Minute,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := lane(t, soaking)
			test.see(w)
			w.stands("staging/shop", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
			d := w.expect("staging/shop", test.state, test.reason)
			want := time.Time{}
			if test.until != 0 {
				want = noon.Add(test.until)
			}
			if !d.Reason.Until.Equal(want) {
				t.Errorf("until %v, want %v", d.Reason.Until, want)
			}
		})
	}
}

func TestPlan_soakNeedsEvidenceWhereHealthIsKnown(t *testing.T) {
	t.Parallel()
	const text = components + `
environments:
  dev: {paths: [dev], health: {api: true}}
  prod: {paths: [prod], after: {dev: {soak: 1h}}}
`
	w := lane(t, text)
	w.stands("dev", ago(9*time.Hour), "web:1.5.0@"+sha("5"))
	w.stands("prod", ago(9*time.Hour), "web:1.4.0@"+sha("4"))
	d := w.expect("prod", promotion.Waiting, "dev soak: no evidence source yet")
	want := promotion.Condition{Name: "dev soak", State: promotion.Unknown, Reason: "no evidence source yet", Value: "1h"}
	if diff := cmp.Diff(want, condition(t, d, "dev soak")); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
}
