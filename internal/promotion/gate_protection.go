package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/scm"
)

// Protection is what the forge requires before anything lands on a branch.
type Protection struct {
	Branch string // its name, for messages
	scm.Rules
}

// Refusal is the answer of a forge that refused to merge a head. Some of what
// forges require, such as resolved conversations, is only known this way. A
// refused merge is not tried again until something happens on the head or some
// time passes.
type Refusal struct {
	Rule  string // of scm; empty: see Words
	Words string
	At    time.Time // in whole minutes
	Until time.Time // when it is tried again
}

// protection are the gates of the forge itself. They are shown and waited for, so
// that promoter does not attempt a merge that the forge would refuse. If users
// merge, the forge shows them its rules itself.
func protection(in *input, open *Open) []Condition {
	if in.settings.Land != config.LandAutomerge || in.obs.Checkout {
		return nil
	}
	if open == nil {
		open = &Open{}
	}
	var gates []Condition
	rules, known := in.obs.Protected[in.settings.Branch]
	if known {
		gates = slices.Concat(rules.blocking(), rules.approvals(*open), rules.checks(*open))
	}
	if refused := open.Refused; refused != nil {
		gate := refused.gate(rules.Hidden)
		if !slices.ContainsFunc(gates, func(c Condition) bool { return c.Name == gate.Name }) {
			gates = append(gates, gate)
		}
	}
	for i := range gates {
		gates[i].Forge = true
	}
	return gates
}

// blocking is what a user has to change before promoter can merge at all.
func (r Protection) blocking() []Condition {
	var gates []Condition
	if r.Queue {
		gates = append(gates, Condition{Name: scm.RuleQueue, State: Blocked, Reason: r.Branch +
			" accepts changes only through its merge queue: allow promoter to bypass it, or set land: pr and add the pull request to the queue"})
	}
	if r.Stuck != "" {
		name := "merge method"
		switch {
		case r.Signed:
			name = scm.RuleSigned
		case r.Linear:
			name = scm.RuleLinear
		}
		gates = append(gates, Condition{Name: name, State: Blocked, Reason: r.Stuck})
	}
	return gates
}

// approvals is the gate of the approvals that the forge requires. No forge reports
// who owns which files, so the approval of code owners is mentioned and left to
// the forge.
func (r Protection) approvals(open Open) []Condition {
	if r.Approvals == 0 && !r.Owners {
		return nil
	}
	gate := Condition{Name: "protection approvals", State: Passed}
	given := len(open.Votes)
	if r.Approvals > 0 {
		gate.Value = fmt.Sprintf("%d of %d", given, r.Approvals)
	}
	onHead := slices.ContainsFunc(open.Votes, func(v Vote) bool { return v.Current })
	switch {
	case given < r.Approvals || r.Approvals > 0 && r.NotByPusher && !onHead:
		plural := "s"
		if r.Approvals == 1 {
			plural = ""
		}
		special := ""
		if r.NotByPusher {
			special += ", one of them for the last push"
		}
		if r.Owners {
			special += ", and those of code owners (CODEOWNERS)"
		}
		gate.State = Pending
		gate.Reason = fmt.Sprintf("%s requires %d approval%s%s%s", r.Branch, r.Approvals, plural, special, voidApprovals(open, true))
	case r.Owners:
		gate.Reason = "if the files have code owners, the forge decides whether they approved"
	}
	return []Condition{gate}
}

// checks are the gates of the required checks. Promoter's own status is not among
// them: it is set before anything is merged.
func (r Protection) checks(open Open) []Condition {
	var gates []Condition
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Checks))) {
		if name == StatusContext {
			continue
		}
		gate := Condition{Name: "protection check " + name, State: Pending}
		i := slices.IndexFunc(open.Checks, func(c Check) bool { return c.Name == name })
		state, elsewhere := Pending, false
		if i >= 0 {
			state, elsewhere = open.Checks[i].by(r.Sources[name])
		}
		switch {
		case i < 0 && open.Blind:
			gate.State, gate.Reason = Passed, "unknown: the credential cannot read all checks, so the forge decides"
		case i < 0:
			gate.Reason = fmt.Sprintf("the check %s was not reported; run it on promoter's branches, or remove it from the required checks of %s",
				name, r.Branch)
		case elsewhere:
			gate.Reason = fmt.Sprintf("the check %s was reported by another app than %s requires", name, r.Branch)
		case state == Passed:
			gate.State = Passed
		case state == Failed:
			gate.State, gate.Reason = Failed, name+" failed"
		default:
			gate.Reason = name + " has not finished"
		}
		gates = append(gates, gate)
	}
	return gates
}

// by returns the result of an app, or that only others reported one. Where it is unknown
// which ones did, the forge decides.
func (c Check) by(app string) (state ConditionState, elsewhere bool) {
	if app == "" || c.Sources == nil {
		return c.State, false
	}
	for _, source := range []string{app, ""} {
		if state, reported := c.Sources[source]; reported {
			return state, false
		}
	}
	return Pending, true
}

// gate is the gate of a refused merge. Rules that promoter cannot read may be the
// cause.
func (r Refusal) gate(hidden string) Condition {
	reason := "the forge refused the merge: " + r.Words
	switch r.Rule {
	case scm.RuleQueue:
		reason += "; allow promoter to bypass the queue, or set land: pr and add the pull request to the queue"
	case scm.RuleSigned:
		reason += "; promoter signs no commits: allow a merge method whose commit the forge signs, such as squash"
	case scm.RuleLinear:
		reason += "; allow squash or rebase merges"
	}
	if hidden != "" {
		reason += "; " + hidden
	}
	return Condition{Name: cmp.Or(r.Rule, "merge"), State: Blocked, Reason: reason, Until: &r.Until}
}

// RetryDue reports whether a gate is a refused merge that should be tried again.
func (c Condition) RetryDue(now time.Time) bool {
	return c.Forge && c.State == Blocked && c.Until != nil && !c.Until.After(now)
}
