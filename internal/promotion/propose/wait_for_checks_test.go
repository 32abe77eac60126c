package propose_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// pushedAgo changes the open pull request: its head was pushed some time before noon, and has these checks.
func pushedAgo(w *decidetest.Scenario, branch string, ago time.Duration, checks ...promotion.Check) {
	open := w.Open[branch]
	open.Pushed, open.Checks = promotiontest.Ago(ago), checks
	w.Open[branch] = open
}

func TestSupersede_waitsForChecks(t *testing.T) {
	t.Parallel()
	const automerge, reviewed = ", land: automerge, gates: {checks: [ci, e2e]}", ", gates: {checks: [ci, e2e]}"
	passed, running, failed := promotiontest.Check("ci", promotion.Passed), promotiontest.Check("ci", promotion.Pending), promotiontest.Check("ci", promotion.Failed)
	e2e := promotiontest.Check("e2e", promotion.Passed)
	canceled := failed
	canceled.NoResult = true
	skipped := passed
	skipped.NoResult = true
	nothing := func(*decidetest.Scenario) {}
	protected := func(w *decidetest.Scenario) {
		w.Protected = map[string]promotion.Protection{"env/dev": {Branch: "env/dev", Rules: scm.Rules{Checks: []string{"ci", "promoter"}}}}
	}
	tests := []struct {
		name     string
		settings string
		ago      time.Duration
		checks   []promotion.Check
		change   func(*decidetest.Scenario)
		waits    string // the reason why 1.6 waits; empty: it is written
	}{
		{"running", automerge, 29 * time.Minute, []promotion.Check{running, e2e}, nothing, "the required check ci of #7 has not finished"},
		{"not reported", automerge, time.Minute, []promotion.Check{passed}, nothing, "the required check e2e of #7 has not finished"},
		{"nothing reported", automerge, 0, nil, nothing, "the required check e2e of #7 has not finished"},
		{"users merge", reviewed, time.Minute, []promotion.Check{running}, nothing, "the required check e2e of #7 has not finished"},
		{"old", automerge, 30 * time.Minute, []promotion.Check{running, e2e}, nothing, ""},
		{"unknown since when", automerge, 12 * 365 * 24 * time.Hour, []promotion.Check{running, e2e}, func(w *decidetest.Scenario) {
			open := w.Open["promoter/dev/shop"]
			open.Pushed = time.Time{}
			w.Open["promoter/dev/shop"] = open
		}, ""},
		{"a clock far ahead", automerge, -31 * time.Minute, []promotion.Check{running, e2e}, nothing, ""},
		{"longer", automerge + ", pullRequest: {waitForChecks: 2h}", time.Hour, []promotion.Check{running, e2e}, nothing, "the required check ci of #7 has not finished"},
		{"off", automerge + ", pullRequest: {waitForChecks: 0}", time.Minute, []promotion.Check{running, e2e}, nothing, ""},
		{"queue", automerge + ", newer: queue", time.Minute, []promotion.Check{failed, e2e}, nothing, "until #7 is merged or closed"},
		{"failed beside running", automerge, time.Minute, []promotion.Check{failed}, nothing, ""},
		{"canceled", automerge, time.Minute, []promotion.Check{canceled}, nothing, ""},
		{"skipped beside running", automerge, time.Minute, []promotion.Check{skipped}, nothing, "the required check e2e of #7 has not finished"},
		{"passed", automerge, time.Minute, []promotion.Check{passed, e2e}, nothing, "the required checks of #7 passed, and it is merged first"},
		{"passed, and a user merges", reviewed, time.Minute, []promotion.Check{passed, e2e}, nothing, ""},
		{
			"passed in a closed window", strings.Replace(automerge, "checks", "windows: [closed], checks", 1), time.Minute,
			[]promotion.Check{passed, e2e},
			nothing, "",
		},
		{"none is required", ", land: automerge", time.Minute, []promotion.Check{running}, nothing, ""},
		{"required by the forge", ", land: automerge", time.Minute, []promotion.Check{running}, protected, "the required check ci of #7 has not finished"},
		{"failed by the forge", ", land: automerge", time.Minute, []promotion.Check{failed}, protected, ""},
		{"rejected", automerge, time.Minute, nil, func(w *decidetest.Scenario) { w.Reject("dev/shop", "web:1.5@"+promotiontest.DigestB) }, ""},
		{"gone", automerge, time.Minute, nil, func(w *decidetest.Scenario) {
			w.Facts = promotion.Facts{}
			w.AddFact("web", "1.5", promotiontest.Version(""))
		}, ""},
		{"a bypass", automerge, time.Minute, nil, func(w *decidetest.Scenario) {
			r := state.Request{Act: promotiontest.ActOf("ada"), Bypass: []string{"checks"}, For: promotiontest.Images("web:1.6@" + decidetest.DigestC)}
			w.ChangeState(state.AddRequest(state.Target(w.Target("dev/shop")), r))
		}, ""},
		{"a request for what waits", automerge, time.Minute, nil, func(w *decidetest.Scenario) {
			r := state.Request{Act: promotiontest.ActOf("ada"), For: promotiontest.Images("web:1.6@" + decidetest.DigestC)}
			w.ChangeState(state.AddRequest(state.Target(w.Target("dev/shop")), r))
		}, ""},
		{"a request for what is open", automerge, time.Minute, nil, func(w *decidetest.Scenario) {
			r := state.Request{Act: promotiontest.ActOf("ada"), For: promotiontest.Images("web:1.5@" + promotiontest.DigestB)}
			w.ChangeState(state.AddRequest(state.Target(w.Target("dev/shop")), r))
		}, "the required check e2e of #7 has not finished"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := openWith(t, test.settings)
			pushedAgo(w, "promoter/dev/shop", test.ago, test.checks...)
			test.change(w)
			d := w.Decide("dev/shop")
			newer, waits := d.NewerWaits()
			to := map[bool]string{true: "1.5", false: "1.6"}[test.waits != ""]
			if d.State != promotion.Proposed || len(d.Moves) != 1 || d.Moves[0].To.Tag != to || waits != (to == "1.5") || !strings.Contains(newer.Reason, test.waits) {
				t.Fatalf("%s: %s; newer: %+v", d.State, d.Reason, newer)
			}
			if waits && strings.Contains(newer.Reason, "required") && (newer.Until == nil || newer.Until.Before(promotiontest.Noon)) {
				t.Errorf("until %v", newer.Until)
			}
			if want := strings.Contains(test.waits, "merged first"); proposetest.Only(w).Land != want {
				t.Errorf("lands: %v", !want)
			}
		})
	}
}

// A registry that lists less than before is no newer version that waits.
func TestSupersede_waitsForChecksOfNothingOlder(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", land: automerge, gates: {checks: [ci]}")
	pushedAgo(w, "promoter/dev/shop", time.Minute)
	w.Publish("web:1.4@" + decidetest.DigestD)
	if d := w.Expect("dev/shop", promotion.Proposed, "newer: web 1.4 -> 1.5"); len(d.Newer) > 0 {
		t.Errorf("%+v", d.Newer)
	}
}

// A rollback replaces what is open.
func TestSupersede_rollbackWaitsForNoChecks(t *testing.T) {
	t.Parallel()
	w := openWith(t, ", land: automerge, gates: {checks: [ci]}")
	pushedAgo(w, "promoter/dev/shop", time.Minute)
	w.Stood("dev/shop", 5*time.Hour, time.Hour, "web:1.3@"+decidetest.DigestD)
	w.RegistryHas("web:1.3@" + decidetest.DigestD)
	back := state.RolledBack{Act: promotiontest.ActOf("ada"), Images: promotiontest.Images("web:1.3@" + decidetest.DigestD)}
	w.ChangeState(state.Rollback(state.Target(w.Target("dev/shop")), back))
	if d := w.Decide("dev/shop"); d.State != promotion.Proposed || d.Moves[0].To.Tag != "1.3" {
		t.Errorf("%s: %s", d.State, d.Reason)
	}
}

// An application joins the pull request of others when their checks are done.
func TestSupersede_joinsAfterChecks(t *testing.T) {
	t.Parallel()
	const shop = "promoter/dev/_all [dev/shop]: newer: web 1.4 -> 1.5"
	const together = "promoter/dev/_all [dev/jobs dev/shop]: jobs: newer: worker 2.0 -> 2.1 (and 1 more)"
	tests := []struct {
		name   string
		ago    time.Duration
		checks []promotion.Check
		want   string
		waits  string
	}{
		{"running", time.Minute, nil, "propose " + shop, "pull request: the required check ci of #7 has not finished"},
		{"merged first", time.Minute, []promotion.Check{promotiontest.Check("ci", promotion.Passed)}, "land, propose " + shop, "pull request: the required checks of #7 passed, and it is merged first"},
		{"failed", time.Minute, []promotion.Check{promotiontest.Check("ci", promotion.Failed)}, "propose " + together, ""},
		{"old", time.Hour, nil, "propose " + together, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := groupOf(t)
			openGroup(w, promotiontest.SnapshotsOf("shop", "web:1.5@"+promotiontest.DigestB))
			pushedAgo(w, allBranch, test.ago, test.checks...)
			expectSummaries(w, test.want)
			d := w.Decide("dev/jobs")
			if waits := d.State == promotion.Waiting; waits != (test.waits != "") || waits && (d.Reason.Message != test.waits || d.Reason.Until.IsZero()) {
				t.Errorf("%s: %s", d.State, d.Reason)
			}
		})
	}
}
