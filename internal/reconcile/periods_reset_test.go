package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/health"
	"promoter/internal/state"
)

// A branch that is moved back ends the period of what it lost. What is there again begins a new one, although its commit is
// the same.
func TestPeriods_resetEndsAPeriod(t *testing.T) {
	t.Parallel()
	for _, land := range []string{"push", "pr", "automerge"} {
		t.Run(land, func(t *testing.T) {
			t.Parallel()
			w := soakingWorld(t, land)
			w.push(web, "1.1.0")
			w.run()
			w.lands()
			w.holds("staging", "1.1.0 1.0.0")
			before := w.Git.Branch("main")
			w.Clock.Add(10 * time.Second)
			w.push(web, "1.2.0")
			w.run()
			w.lands()
			w.holds("staging", "1.2.0 1.0.0")
			w.Clock.Add(10 * time.Second)
			w.decide(state.Hold(in("staging"), w.act("reset")), state.Hold(in("dev"), w.act("reset")))
			w.Git.Set("main", before)
			wantReason(t, w.run(), "prod", "staging soak", "present since 2026-11-18T11:00:20Z, again")
			w.Clock.Add(15 * time.Second) // 35 seconds after 1.1.0 was there first
			wantReason(t, w.run(), "prod", "staging soak", "present since 2026-11-18T11:00:20Z, again")
			w.holds("prod", "1.0.0 1.0.0")
			w.Clock.Add(15 * time.Second)
			w.run()
			w.holds("prod", "1.1.0 1.0.0")
			w.calm()
		})
	}
}

// The same holds for a soak that counts from when the version became healthy: its commit had health before.
func TestPeriods_resetEndsTheHealthOfAPeriod(t *testing.T) {
	t.Parallel()
	w := newMonitoredWorld(t, strings.Replace(monitored, "after: {dev: {healthy: true}}", "after: {dev: {soak: 1h}}", 1))
	w.push(web, "1.1.0")
	w.reconcile()
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev soak: healthy since 2026-11-18T11:00:00Z")
	before := w.Git.Branch("main")
	w.Clock.Add(10 * time.Minute)
	w.push(web, "1.2.0")
	w.reconcile()
	w.reconcile()
	w.holds("dev", "1.2.0 1.0.0")
	w.Clock.Add(10 * time.Minute)
	w.decide(state.Hold(in("dev"), w.act("reset")))
	w.Git.Set("main", before)
	w.reports("shop-dev", health.Healthy, "", "")
	w.waits(w.reconcile(), "staging", "dev soak: healthy since 2026-11-18T11:20:00Z, again")
	w.Clock.Add(59 * time.Minute)
	w.reconcile()
	w.holds("staging", "1.0.0 1.0.0")
	w.Clock.Add(time.Minute)
	w.reconcile()
	w.holds("staging", "1.1.0 1.0.0")
}
