package pullrequest_test

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

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

// only arranges and returns the one proposal that there must be.
func only(w *decidetest.Scenario) propose.Proposal {
	w.T.Helper()
	proposals := arrange(w)
	if len(proposals) != 1 {
		w.T.Fatalf("%d proposals: %v", len(proposals), summaries(proposals))
	}
	return proposals[0]
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
