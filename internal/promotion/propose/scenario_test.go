package propose_test

import (
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose/proposetest"
)

// expectSummaries compares all proposals.
func expectSummaries(w *decidetest.Scenario, want ...string) {
	w.T.Helper()
	expectSummariesAt(w, promotiontest.Noon, want...)
}

func expectSummariesAt(w *decidetest.Scenario, now time.Time, want ...string) {
	w.T.Helper()
	if diff := cmp.Diff(want, proposetest.Summaries(proposetest.PlanAt(w, now))); diff != "" {
		w.T.Error(diff)
	}
}

// expectOnly compares the one proposal that there must be.
func expectOnly(w *decidetest.Scenario, step propose.Step, land bool, reason string) {
	w.T.Helper()
	p := proposetest.Only(w)
	if p.Step != step || p.Land != land || p.Reason.Message != reason {
		w.T.Errorf("%s, land %v: %s\nwant %s, land %v: %s", p.Step, p.Land, p.Reason, step, land, reason)
	}
}

// What a pull request is opened with is what the next pass finds on it.
func TestOpened_matchesTheNextReconciliation(t *testing.T) {
	t.Parallel()
	before, after := decidetest.Gated(t, promotion.Open{}), decidetest.Gated(t, promotion.Open{Number: 7})
	opened := propose.Opened(proposetest.Plan(before)[0])
	if diff := cmp.Diff(after.Decide("prod/shop").Gates, opened.Gates); diff != "" {
		t.Error(diff)
	}
	if gate := promotiontest.GateNamed(t, before.Decide("prod/shop").Gates, "approvals"); gate.Reason != "no pull request yet" {
		t.Errorf("the decision was changed: %+v", gate)
	}
}
