package propose_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
)

// arrange plans and arranges.
func arrange(w *decidetest.Scenario) []propose.Proposal {
	return arrangeAt(w, promotiontest.Noon)
}

func arrangeAt(w *decidetest.Scenario, now time.Time) []propose.Proposal {
	return propose.Plan(w.Observation, decide.Plan(w.Observation, now), now)
}

// expectShort compares all proposals.
func expectSummaries(w *decidetest.Scenario, want ...string) {
	w.T.Helper()
	expectSummariesAt(w, promotiontest.Noon, want...)
}

func expectSummariesAt(w *decidetest.Scenario, now time.Time, want ...string) {
	w.T.Helper()
	if diff := cmp.Diff(want, summaries(arrangeAt(w, now))); diff != "" {
		w.T.Error(diff)
	}
}

// only arranges and returns the one proposal that there must be.
func only(w *decidetest.Scenario) propose.Proposal {
	w.T.Helper()
	proposals := arrange(w)
	if len(proposals) != 1 {
		w.T.Fatalf("%d proposals: %v", len(proposals), summaries(proposals))
	}
	return proposals[0]
}

// expectOnly compares the one proposal that there must be.
func expectOnly(w *decidetest.Scenario, step propose.Step, land bool, reason string) {
	w.T.Helper()
	p := only(w)
	if p.Step != step || p.Land != land || p.Reason.Message != reason {
		w.T.Errorf("%s, land %v: %s\nwant %s, land %v: %s", p.Step, p.Land, p.Reason, step, land, reason)
	}
}

// summaries tells proposals as "step branch [applications]: reason".
func summaries(proposals []propose.Proposal) []string {
	var lines []string
	for _, p := range proposals {
		var names []string
		for _, d := range p.Decisions {
			names = append(names, d.Environment+"/"+d.Application)
		}
		line := string(p.Step) + " " + p.Head + " [" + strings.Join(names, " ") + "]: " + p.Reason.Message
		if p.Land {
			line = "land, " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// What a pull request is opened with is what the next pass finds on it.
func TestOpened_matchesTheNextReconciliation(t *testing.T) {
	t.Parallel()
	before, after := gatedScenario(t, promotion.Open{}), gatedScenario(t, promotion.Open{Number: 7})
	opened := propose.Opened(arrange(before)[0])
	if diff := cmp.Diff(after.Decide("prod/shop").Gates, opened.Gates); diff != "" {
		t.Error(diff)
	}
	if gate := promotiontest.GateNamed(t, before.Decide("prod/shop").Gates, "approvals"); gate.Reason != "no pull request yet" {
		t.Errorf("the decision was changed: %+v", gate)
	}
}

const everyGate = promotiontest.Components + `
windows:
  office: {kind: allow, schedule: "0 9 * * 1-5", duration: 8h, timeZone: Europe/Berlin}
  lunch: {kind: deny, schedule: "0 12 * * *", duration: 1h, timeZone: Europe/Berlin}
environments:
  prod:
    paths: ["prod/{application}"]
    land: automerge
    gates: {windows: [office, lunch], checks: ["ci/*", lint], approvals: {count: 2, from: ["team:acme/sre", eve]}}
`

func gatedScenario(t *testing.T, open promotion.Open) *decidetest.Scenario {
	t.Helper()
	w := decidetest.NewCheckout(t, everyGate).WithForge()
	w.Has("prod/shop", "web:1.4")
	w.Publish("web:1.5@" + promotiontest.DigestB)
	if open.Number > 0 {
		open.Head = "promoter/prod/shop"
		open.Snapshots = map[string]promotion.Snapshot{"shop": promotiontest.SnapshotOf("web:1.5@" + promotiontest.DigestB)}
		w.Open[open.Head] = open
	}
	return w
}
