package render

import (
	"fmt"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// actions prints what was done. Many pushes to one environment for the same reason share one
// line.
func (r Report) actions(effects []outcome.Effect) string {
	same := map[string][]string{} // by environment and reason: the applications
	key := func(e outcome.Effect) string {
		if e.Action != outcome.ActionPushed || e.Err != nil || !isSingle(e) || len(e.Gates) > 0 {
			return ""
		}
		return e.Environment.Name + "\n" + e.Reason.Message
	}
	for _, effect := range effects {
		if k := key(effect); k != "" {
			same[k] = append(same[k], effect.Decisions[0].Application)
		}
	}
	var b strings.Builder
	for _, effect := range effects {
		k := key(effect)
		switch applications := same[k]; {
		case len(applications) <= maxListed:
			b.WriteString(r.action(effect))
		case effect.Decisions[0].Application == applications[0]:
			name := r.Paint.Paint(ColorBold, Visible(effect.Environment.Name))
			action := r.Paint.Paint(ColorGreen, string(effect.Action))
			count := Count(len(applications), "application", "applications")
			fmt.Fprintf(&b, "  %s  %s  %s\n", name, action, Visible(count+": "+effect.Reason.Message))
		}
	}
	return b.String()
}

// action prints what was done. Below are the gates that the pull request waits for. It
// prints nothing if nothing was done.
func (r Report) action(effect outcome.Effect) string {
	var b strings.Builder
	for _, line := range r.actionLines(effect) {
		b.WriteString("  " + line + "\n")
	}
	if effect.Action != outcome.ActionNone && effect.Err == nil {
		b.WriteString(r.gates(effect, "    "))
	}
	return b.String()
}

// actionLines has one line for each target, which shows what was done as its state, and
// one for the pull request of a group.
func (r Report) actionLines(effect outcome.Effect) (lines []string) {
	if effect.Action == outcome.ActionNone {
		return nil
	}
	line := func(name string, parts ...string) {
		text := r.Paint.Paint(ColorBold, Visible(name)) + "  " + r.Paint.Paint(ColorGreen, string(effect.Action))
		for _, part := range parts {
			if part != "" {
				text += "  " + Visible(part)
			}
		}
		lines = append(lines, text)
	}
	commit := ""
	if effect.Action == outcome.ActionPushed || effect.Action == outcome.ActionMerged {
		commit = effect.Commit[:min(len(effect.Commit), 7)]
	}
	number, reason := pullRequestName(effect.Number, effect.URL), effect.Reason.Message
	switch {
	case isSingle(effect):
		line(TargetName(effect.Decisions[0].Target), number, commit, reason)
	case effect.Action == outcome.ActionClosed || len(effect.Decisions) == 0:
		line(effect.Environment.Name, number, commit, reason)
	default:
		for _, decision := range effect.Decisions {
			line(TargetName(decision.Target), pullRequestName(effect.Number, ""), decision.Reason.Message)
		}
		line(effect.Environment.Name, number, commit, Count(len(effect.Decisions), "application", "applications"))
	}
	return lines
}

// reasonFor returns the reason that the line of an action gives for a target.
func reasonFor(target promotion.Target, effect outcome.Effect) string {
	for _, decision := range effect.Decisions {
		if !isSingle(effect) && decision.Target == target {
			return decision.Reason.Message
		}
	}
	return effect.Reason.Message
}

// effect prints what failed, what waits, and in a dry run what would be done; nothing if
// that is nothing.
func (r Report) effect(effect outcome.Effect, indent string) string {
	text := ""
	switch {
	case effect.Action != outcome.ActionNone && effect.Err == nil:
		return "" // see action
	case effect.Action != outcome.ActionNone:
	case r.DryRun || effect.Err != nil:
		text = plannedText(effect)
		if r.DryRun && effect.Err == nil {
			text += orderText(effect)
		}
	default:
		text = openText(effect)
	}
	if text == "" && effect.Err == nil {
		return ""
	}
	if len(effect.Decisions) > 1 || effect.Group {
		text = strings.TrimSuffix(Count(len(effect.Decisions), "application", "applications")+": "+text, ": ")
	}
	line := indent + Visible(text) + "\n"
	if effect.Err != nil {
		line = indent + r.Paint.Paint(ColorRed, "failed") + Visible(strings.TrimRight(" "+text, " ")+": "+oneLine(effect.Err)) + "\n"
	}
	return line + r.gates(effect, "    ")
}

// gates lists the gates that block an open pull request.
func (r Report) gates(effect outcome.Effect, indent string) string {
	var b strings.Builder
	for _, gate := range effect.Gates {
		if r.Details || gate.State != promotion.Passed {
			fmt.Fprintf(&b, "%sgate %s\n", indent, textRenderer{r.Paint}.condition(gate))
		}
	}
	return b.String()
}

// plannedText describes what would be done.
func plannedText(effect outcome.Effect) string {
	switch {
	case effect.Step == propose.StepPush:
		return "to be pushed"
	case effect.Planned:
		return "to be merged: " + pullRequestName(effect.Open.Number, effect.Open.URL)
	case effect.Step == propose.StepClose && effect.Open != nil:
		return "to be closed: " + pullRequestName(effect.Open.Number, effect.Open.URL) + ": " + effect.Reason.String()
	case effect.Step == propose.StepPropose && effect.Open == nil:
		return "to be opened as a pull request"
	}
	return openText(effect)
}

// orderText describes after what something would be done, and what it then waits for.
func orderText(effect outcome.Effect) string {
	text := ""
	if len(effect.Follows) > 0 {
		text = ", after " + strings.Join(effect.Follows, " and ")
	}
	if effect.Step == propose.StepPropose && effect.Open == nil {
		if effect.Environment.Land == setting.LandAutomerge {
			return text + "; then it waits for its checks and gates"
		}
		return text + "; then it waits for a user to merge it"
	}
	return text
}

// openText names the open pull request, or a push that waits.
func openText(effect outcome.Effect) string {
	if effect.Open == nil {
		if effect.Step == propose.StepWait && effect.Reason.Rule == promotion.RuleGate {
			return "to be pushed when its gates allow"
		}
		return ""
	}
	text := "open " + pullRequestName(effect.Open.Number, effect.Open.URL)
	if effect.Open.Foreign != "" {
		text += ", left alone: " + effect.Open.Foreign
	}
	return text
}

// pullRequestName returns the number and URL of a pull request; empty: there is none.
func pullRequestName(number int, url string) string {
	if number == 0 {
		return url
	}
	return strings.TrimSpace(fmt.Sprintf("#%d %s", number, url))
}
