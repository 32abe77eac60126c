package promotion

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/scm"
)

// Protection is what the forge itself asks before anything lands on a branch.
type Protection struct {
	Branch string // its name, for words
	scm.Rules
}

// mergeGate is the name of the gate of what a forge refuses without a rule that
// promoter knows.
const mergeGate = "merge"

// protection are the gates that the forge asks by itself. They are shown, and
// waited for, so that nothing is tried in vain; the forge holds them whatever
// promoter thinks. Where people merge, the forge tells them.
func (p *planner) protection() []Condition {
	if p.settings.Land != config.LandAutomerge || p.Checkout {
		return nil
	}
	var gates []Condition
	open, _ := p.open()
	rules, known := p.Protected[p.settings.Branch]
	if known {
		gates = slices.Concat(rules.blocking(), rules.approvals(open), rules.checks(open))
	}
	if refused := open.Refused; refused != nil && !slices.ContainsFunc(gates, func(c Condition) bool { return c.Name == refused.name() }) {
		gates = append(gates, refused.gate(rules.Hidden))
	}
	for i := range gates {
		gates[i].Forge = true
	}
	return gates
}

// blocking is what a person has to change before promoter can merge at all.
func (r Protection) blocking() []Condition {
	var gates []Condition
	if r.Queue {
		gates = append(gates, Condition{Name: scm.RuleQueue, State: Blocked, Reason: r.Branch + throughQueue})
	}
	if r.Stuck != "" {
		gates = append(gates, Condition{Name: r.stuckBy(), State: Blocked, Reason: r.Stuck})
	}
	return gates
}

// throughQueue follows the name of a branch.
const throughQueue = " takes changes only through its merge queue: let promoter bypass it, or set land: pr and let people add the pull request to it"

func (r Protection) stuckBy() string {
	switch {
	case r.Signed:
		return scm.RuleSigned
	case r.Linear:
		return scm.RuleLinear
	default:
		return "merge method"
	}
}

// approvals is the gate of the approvals that the forge counts. Whose files they
// are no forge tells, so the owners' approval is named and left to the forge.
func (r Protection) approvals(open Open) []Condition {
	if r.Approvals == 0 && !r.Owners {
		return nil
	}
	gate := Condition{Name: "protection approvals", State: Passed}
	given := len(open.Votes)
	if r.Approvals > 0 {
		gate.Value = fmt.Sprintf("%d of %d", given, r.Approvals)
	}
	seen := slices.ContainsFunc(open.Votes, func(v Vote) bool { return v.Current })
	switch {
	case given < r.Approvals || r.Approvals > 0 && r.NotByPusher && !seen:
		gate.State = Pending
		gate.Reason = fmt.Sprintf("%s wants %s%s%s", r.Branch, counted(r.Approvals, "approval"), r.whose(), void(open, true))
	case r.Owners:
		gate.Reason = "if the files have owners, the forge decides whether they approved"
	}
	return []Condition{gate}
}

// whose says which of the approvals are special.
func (r Protection) whose() string {
	words := ""
	if r.NotByPusher {
		words += ", one of them for the last push"
	}
	if r.Owners {
		words += ", and those of the files' owners (CODEOWNERS)"
	}
	return words
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// checks are the gates of the checks that the branch requires. Our own status is
// none: it is set before anything is merged.
func (r Protection) checks(open Open) []Condition {
	var gates []Condition
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Checks))) {
		if name != StatusContext {
			gates = append(gates, r.check(name, open))
		}
	}
	return gates
}

func (r Protection) check(name string, open Open) Condition {
	gate := Condition{Name: "protection check " + name, State: Pending}
	i := slices.IndexFunc(open.Checks, func(c Check) bool { return c.Name == name })
	switch {
	case i < 0 && open.Blind:
		gate.State, gate.Reason = Passed, "not known: the credential may not read all checks, so the forge decides"
	case i < 0:
		gate.Reason = fmt.Sprintf("the check %s was not reported; if nothing runs it on promoter's branches, let it run there, or take it out of what %s requires",
			name, r.Branch)
	case open.Checks[i].State == Passed:
		gate.State = Passed
	case open.Checks[i].State == Failed:
		gate.State, gate.Reason = Failed, name+" failed"
	default:
		gate.Reason = name + " has not finished"
	}
	return gate
}

// void says whose approvals do not count and why; for a forge those of our own
// account alone.
func void(open Open, own bool) string {
	var parts []string
	for _, v := range open.Void {
		if v.Own || !own {
			parts = append(parts, fmt.Sprintf("that of %s does not count: %s", v.By, v.Why))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}
