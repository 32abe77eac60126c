package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/scm"
)

// protection are the gates of the forge itself. They are shown and waited for, so
// that promoter does not attempt a merge that the forge would refuse. If users
// merge, the forge shows them its rules itself.
func protection(in input.Target, _ []promotion.Move, open *promotion.Open) []promotion.Condition {
	if in.Settings.Land != setting.LandAutomerge || in.Checkout {
		return nil
	}
	if open == nil {
		open = &promotion.Open{}
	}
	var gates []promotion.Condition
	rules, known := in.Rules()
	if known {
		gates = slices.Concat(blockedMerges(rules), requiredApprovals(rules, *open), requiredChecks(rules, *open, in.Now()))
	}
	if refused := open.Refused; refused != nil {
		gate := refusedMerge(*refused, rules.Hidden)
		if !slices.ContainsFunc(gates, func(c promotion.Condition) bool { return c.Name == gate.Name }) {
			gates = append(gates, gate)
		}
	}
	for i := range gates {
		gates[i].Forge = true
	}
	return gates
}

// blockedMerges are what a user has to change before promoter can merge at all.
func blockedMerges(r promotion.Protection) []promotion.Condition {
	var gates []promotion.Condition
	if r.Queue {
		gates = append(gates, promotion.Condition{
			Name: scm.RuleQueue, State: promotion.Blocked,
			Reason: r.Branch + " accepts changes only through its merge queue: " +
				"allow promoter to bypass it, or set land: pr and add the pull request to the queue",
		})
	}
	if r.Stuck != "" {
		name := "merge method"
		switch {
		case r.Signed:
			name = scm.RuleSigned
		case r.Linear:
			name = scm.RuleLinear
		}
		gates = append(gates, promotion.Condition{Name: name, State: promotion.Blocked, Reason: r.Stuck})
	}
	return gates
}

// requiredApprovals is the gate of the approvals that the forge requires. No forge reports
// who owns which files, so the approval of code owners is mentioned and left to
// the forge.
func requiredApprovals(r promotion.Protection, open promotion.Open) []promotion.Condition {
	if r.Approvals == 0 && !r.Owners {
		return nil
	}
	gate := promotion.Condition{Name: "protection approvals", State: promotion.Passed}
	given := len(open.Votes)
	if r.Approvals > 0 {
		gate.Value = fmt.Sprintf("%d of %d", given, r.Approvals)
	}
	onHead := slices.ContainsFunc(open.Votes, func(v promotion.Vote) bool { return v.Current })
	switch {
	case given < r.Approvals || r.Approvals > 0 && r.NotByPusher && !onHead:
		plural := "s"
		if r.Approvals == 1 {
			plural = ""
		}
		special := ""
		if r.NotByPusher {
			special = ", one of them for the last push"
		}
		if r.Owners {
			special += ", and those of code owners (CODEOWNERS)"
		}
		gate.State = promotion.Pending
		gate.Reason = fmt.Sprintf("%s requires %d approval%s%s%s", r.Branch, r.Approvals, plural, special, voidApprovals(open, true))
	case r.Owners:
		gate.Reason = "if the files have code owners, the forge decides whether they approved"
	}
	return []promotion.Condition{gate}
}

const protectionCheck = "protection check " // before the name of the check

// requiredChecks are the gates of the required checks. Promoter's own status is not among
// them: it is set before anything is merged.
func requiredChecks(r promotion.Protection, open promotion.Open, now time.Time) []promotion.Condition {
	var gates []promotion.Condition
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Checks))) {
		if name == promotion.StatusContext {
			continue
		}
		gate := promotion.Condition{Name: protectionCheck + name, State: promotion.Pending}
		i := slices.IndexFunc(open.Checks, func(c promotion.Check) bool { return c.Name == name })
		state, elsewhere := promotion.Pending, false
		if i >= 0 {
			state, elsewhere = reportedBy(open.Checks[i], r.Sources[name])
		}
		switch {
		case i < 0 && open.Blind:
			gate.State, gate.Reason = promotion.Passed, "unknown: the credential cannot read all checks, so the forge decides"
		case i < 0:
			gate.Reason = fmt.Sprintf("the check %s was not reported; "+
				"run it on promoter's branches, or remove it from the required checks of %s", name, r.Branch)
			gate.NotStarted(open, name, "the required checks of "+r.Branch, now)
		case elsewhere:
			gate.Reason = fmt.Sprintf("the check %s was reported by another app than %s requires", name, r.Branch)
		case state == promotion.Passed:
			gate.State = promotion.Passed
		case state == promotion.Failed:
			gate.State, gate.Reason = promotion.Failed, name+" failed"
		default:
			gate.Reason = name + " has not finished"
		}
		gates = append(gates, gate)
	}
	return gates
}

// reportedBy returns the result of an app, or that only others reported one. Where it is unknown
// which ones did, the forge decides.
func reportedBy(c promotion.Check, app string) (state promotion.ConditionState, elsewhere bool) {
	if app == "" || c.Sources == nil {
		return c.State, false
	}
	for _, source := range []string{app, ""} {
		if state, reported := c.Sources[source]; reported {
			return state, false
		}
	}
	return promotion.Pending, true
}

// refusedMerge is the gate of a refused merge. Rules that promoter cannot read may be the
// cause.
func refusedMerge(r promotion.Refusal, hidden string) promotion.Condition {
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
	return promotion.Condition{Name: cmp.Or(r.Rule, "merge"), State: promotion.Blocked, Reason: reason, Until: &r.Until}
}
