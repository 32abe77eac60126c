package promotion

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/state"
)

// teamPrefix stands before GROUP/NAME where a group of people is meant.
const teamPrefix = "team:"

// approvalsGate is the name of the gate.
const approvalsGate = "approvals"

// approvals is the gate of what people say of the pull request. Somebody who asks
// for changes is heard where no approval is wanted too.
func (p *planner) approvals() []Condition {
	wanted := p.settings.Gates.Approvals
	open, found := p.open()
	if wanted == nil && (!found || len(open.Objections) == 0) {
		return nil
	}
	gate := Condition{Name: approvalsGate, State: Passed}
	if wanted == nil {
		wanted = &config.Approvals{}
	}
	if p.Checkout {
		gate.State, gate.Reason, gate.Value = Unknown, notEvaluated, fmt.Sprintf("%d wanted", wanted.Count)
		return []Condition{gate}
	}
	given := len(p.approvedBy(open))
	if wanted.Count > 0 {
		gate.Value = fmt.Sprintf("%d of %d", given, wanted.Count)
	}
	switch {
	case !found:
		gate.State, gate.Reason = Pending, noPullRequest
	case len(open.Objections) > 0:
		gate.State, gate.Reason = Pending, "changes requested by "+people(open.Objections)
	case given < wanted.Count:
		gate.State, gate.Reason = Pending, notApproved+from(wanted.From)+void(p.withAskers(open), false)
	}
	return []Condition{gate}
}

// from names who may approve.
func from(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " by " + strings.Join(names, " or ")
}

// people lists names in one order, whatever the forge's.
func people(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// approvedBy returns the people whose approval counts, each once: those that the
// config names, and never whoever asked for the promotion.
func (p *planner) approvedBy(open Open) []string {
	var by []string
	for _, approval := range open.Approvals {
		same := func(name string) bool { return strings.EqualFold(name, approval.By) }
		if p.mayApprove(approval) && !slices.ContainsFunc(by, same) && !slices.ContainsFunc(p.askers(), same) {
			by = append(by, approval.By)
		}
	}
	return by
}

func (p *planner) mayApprove(approval Approval) bool {
	if p.settings.Gates.Approvals == nil || len(p.settings.Gates.Approvals.From) == 0 {
		return true
	}
	return slices.ContainsFunc(p.settings.Gates.Approvals.From, func(name string) bool {
		team, isTeam := strings.CutPrefix(name, teamPrefix)
		if !isTeam {
			return strings.EqualFold(name, approval.By)
		}
		return slices.ContainsFunc(approval.Teams, func(of string) bool {
			return strings.EqualFold(strings.TrimPrefix(of, teamPrefix), team)
		})
	})
}

// withAskers adds those of the approvals that do not count because whoever gave
// them asked for what is proposed.
func (p *planner) withAskers(open Open) Open {
	open.Void = slices.Clone(open.Void)
	for _, approval := range open.Approvals {
		if slices.ContainsFunc(p.askers(), func(name string) bool { return strings.EqualFold(name, approval.By) }) {
			open.Void = append(open.Void, Void{By: approval.By, Why: "they asked for this promotion"})
		}
	}
	return open
}

// askers are the people who asked for what is proposed here.
func (p *planner) askers() []string {
	var names []string
	record := p.State.At(state.Target{Environment: p.place.Environment, Application: p.place.Application})
	if record.Request != nil {
		names = append(names, record.Request.By.Login)
	}
	if record.Rollback != nil {
		names = append(names, record.Rollback.By.Login)
	}
	return names
}
