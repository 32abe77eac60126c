package promotion

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
)

// The reasons of gates that look at a pull request: before it is open, and while
// nobody has said anything on it.
const (
	noPullRequest = "no pull request yet"
	notReported   = "not reported yet"
	notApproved   = "not approved yet"
)

// OpenedGates returns the gates of a pull request that was opened just now: nothing
// was reported on it yet.
func OpenedGates(gates []Condition, approvals *config.Approvals) []Condition {
	gates = slices.Clone(gates)
	for i := range gates {
		switch {
		case gates[i].Reason != noPullRequest:
		case gates[i].Name == approvalsGate && approvals != nil:
			gates[i].Reason = notApproved + from(approvals.From)
		default:
			gates[i].Reason = notReported
		}
	}
	return gates
}

// gates are what must hold before the moves land, those of the config first. They
// never block proposing.
// What is pushed has no pull request to look at: there the windows are all.
func (p *planner) gates() []Condition {
	gates := slices.Clone(p.capped)
	if names := p.settings.Gates.Windows; len(names) > 0 {
		gates = append(gates, p.windows(names))
	}
	if p.settings.Land == config.LandPush {
		return gates
	}
	for _, pattern := range p.settings.Gates.Checks {
		gates = append(gates, p.checkGate(pattern))
	}
	gates = append(gates, p.approvals()...)
	if open, found := p.open(); found && open.Draft && p.settings.Land == config.LandAutomerge {
		gates = append(gates, Condition{Name: "draft", State: Pending, Reason: "the pull request is a draft"})
	}
	return append(gates, p.protection()...)
}

// windows asks the named windows together: they allow and deny as one.
func (p *planner) windows(names []string) Condition {
	state := p.Config.WindowsOf(names).State(p.now)
	gate := Condition{Name: "windows " + strings.Join(names, ", "), State: Pending, Reason: state.Reason}
	if state.Open {
		gate.State = Passed
	}
	if !state.Until.IsZero() {
		until := state.Until.UTC()
		gate.Until = &until
	}
	return gate
}

// checkGate asks the checks on the head of our pull request.
func (p *planner) checkGate(pattern string) Condition {
	name := "check " + pattern
	if p.Checkout {
		return Condition{Name: name, State: Unknown, Reason: notEvaluated}
	}
	open, found := p.open()
	if !found {
		return Condition{Name: name, State: Pending, Reason: noPullRequest}
	}
	return checkedBy(name, pattern, open.Checks)
}

// checkedBy says whether all checks of a pattern passed. None at all is not yet
// reported: the machine that runs them may not have begun. Our own status never
// counts: a promotion would wait for itself.
func checkedBy(name, pattern string, checks []Check) Condition {
	c := Condition{Name: name, State: Pending, Reason: notReported}
	passed, all := 0, 0
	var failed, running string
	for _, check := range checks {
		if check.Name == StatusContext || !config.MatchGlob(pattern, check.Name) {
			continue
		}
		all++
		switch check.State {
		case Passed:
			passed++
		case Failed:
			failed = first(failed, check.Name)
		default:
			running = first(running, check.Name)
		}
	}
	switch {
	case failed != "":
		c.State, c.Reason = Failed, failed+" failed"
	case running != "":
		c.Reason = running + " has not finished"
	case all > 0:
		c.State, c.Reason = Passed, ""
	}
	if all > 1 {
		c.Value = fmt.Sprintf("%d of %d passed", passed, all)
	}
	return c
}

// first returns the name that sorts first, so that the order in which a forge
// lists checks changes no words.
func first(a, b string) string {
	if a == "" {
		return b
	}
	return min(a, b)
}
