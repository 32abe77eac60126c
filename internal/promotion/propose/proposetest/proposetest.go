// Package proposetest plans the pull requests of a scenario, and describes them in a few words.
package proposetest

import (
	"strings"
	"time"

	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose"
)

// Plan plans the pull requests of a scenario at noon.
func Plan(w *decidetest.Scenario) []propose.Proposal {
	return PlanAt(w, promotiontest.Noon)
}

// PlanAt plans them at a time.
func PlanAt(w *decidetest.Scenario, now time.Time) []propose.Proposal {
	return propose.Plan(w.Observation, w.Plan(now), now)
}

// Only plans and returns the one proposal that there must be.
func Only(w *decidetest.Scenario) propose.Proposal {
	w.T.Helper()
	proposals := Plan(w)
	if len(proposals) != 1 {
		w.T.Fatalf("%d proposals: %v", len(proposals), Summaries(proposals))
	}
	return proposals[0]
}

// Summaries describes proposals as "step branch [applications]: reason".
func Summaries(proposals []propose.Proposal) []string {
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
