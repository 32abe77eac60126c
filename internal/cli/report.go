package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/app"
	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
)

// reportRenderer prints as text what a reconciliation observed and did.
type reportRenderer struct {
	paint   painter
	dryRun  bool
	details bool                        // also conditions and gates, and every target
	wanted  func(promotion.Target) bool // nil: all targets
}

func (r reportRenderer) results(results []app.Result) string {
	var b strings.Builder
	for i := range results {
		b.WriteString(r.result(&results[i]))
	}
	return b.String()
}

func (r reportRenderer) result(result *app.Result) string {
	shown := newShown(result.Report, r.wanted)
	if len(shown.environments) == 0 && result.Onboarding == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(r.paint.paint(colorBold, visible(result.Repository)) + "\n")
	if offered := result.Onboarding; offered != nil {
		b.WriteString("  " + visible(onboardingText(*offered)) + "\n")
	}
	for _, environment := range shown.environments {
		b.WriteString(r.environment(shown, environment))
	}
	return b.String()
}

// onboardingText describes the result of offering a config file to a repository.
func onboardingText(result onboarding.Result) string {
	text := "onboarding pull request "
	if result.Number > 0 {
		text += pullRequestName(result.Number, result.URL) + " "
	}
	text += string(result.State)
	if result.Reason != "" {
		text += ": " + result.Reason
	}
	return text
}

// shown is a report grouped by environment.
type shown struct {
	environments []string
	decisions    map[string][]promotion.Decision
	alone        map[promotion.Target][]engine.Effect // of one application
	others       map[string][]engine.Effect           // of several, or of none
}

func newShown(report engine.Report, wanted func(promotion.Target) bool) shown {
	s := shown{
		decisions: map[string][]promotion.Decision{},
		alone:     map[promotion.Target][]engine.Effect{}, others: map[string][]engine.Effect{},
	}
	for _, decision := range report.Decisions {
		if wanted != nil && !wanted(decision.Target) {
			continue
		}
		s.enter(decision.Environment)
		s.decisions[decision.Environment] = append(s.decisions[decision.Environment], decision)
	}
	for _, done := range report.Effects {
		if isAbout(done, wanted) {
			s.enter(done.Environment.Name)
			s.file(done)
		}
	}
	return s
}

// isAbout reports whether an effect is about a target that is shown.
func isAbout(done engine.Effect, wanted func(promotion.Target) bool) bool {
	if wanted == nil {
		return true
	}
	return slices.ContainsFunc(done.Decisions, func(d promotion.Decision) bool { return wanted(d.Target) })
}

func (s *shown) enter(environment string) {
	s.environments = appendNew(s.environments, environment)
}

func (s *shown) file(done engine.Effect) {
	if len(done.Decisions) == 1 && !done.Group {
		target := done.Decisions[0].Target
		s.alone[target] = append(s.alone[target], done)
		return
	}
	s.others[done.Environment.Name] = append(s.others[done.Environment.Name], done)
}

// maxUnchanged is how many targets of one environment are listed if they have nothing to
// do.
const maxUnchanged = 10

func (r reportRenderer) environment(s shown, environment string) string {
	var b strings.Builder
	quiet := map[promotion.State]int{}
	decisions := s.decisions[environment]
	for _, decision := range decisions {
		if !r.details && len(decisions) > maxUnchanged && isUnchanged(decision.State) && len(s.alone[decision.Target]) == 0 {
			quiet[decision.State]++
			continue
		}
		b.WriteString(r.decision(decision))
		for _, done := range s.alone[decision.Target] {
			if r.details && len(decision.Gates) > 0 {
				done.Gates = nil // the decision lists them
			}
			b.WriteString(r.done(done, "    "))
		}
	}
	for _, state := range []promotion.State{promotion.Same, promotion.Absent} {
		if n := quiet[state]; n > 0 {
			fmt.Fprintf(&b, "  %s  %s  %s\n", environment, state, count(n, "application", "applications"))
		}
	}
	for _, done := range s.others[environment] {
		b.WriteString(r.done(done, "  "+visible(environment)+"  "))
	}
	return b.String()
}

func isUnchanged(state promotion.State) bool {
	return state == promotion.Same || state == promotion.Absent
}

func (r reportRenderer) decision(d promotion.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s  %s", r.paint.paint(colorBold, visible(targetName(d.Target))),
		r.paint.paint(stateColor(d.State), string(d.State)), visible(d.Reason.String()))
	if !d.Reason.Until.IsZero() {
		b.WriteString(", until " + d.Reason.Until.UTC().Format(time.RFC3339))
	}
	b.WriteString("\n")
	if !r.details {
		return b.String()
	}
	if len(d.Snapshot) > 0 {
		fmt.Fprintf(&b, "    snapshot %s (%s)\n", visible(d.Snapshot.String()), d.Snapshot.ID())
	}
	for _, condition := range d.Conditions {
		fmt.Fprintf(&b, "    condition %s\n", textRenderer{r.paint}.condition(condition))
	}
	for _, gate := range d.Gates {
		fmt.Fprintf(&b, "    gate %s\n", textRenderer{r.paint}.condition(gate))
	}
	return b.String()
}

// done prints an effect, or in a dry run what would be done; nothing if there is no pull
// request and nothing was done.
func (r reportRenderer) done(done engine.Effect, indent string) string {
	text := effectText(done, r.dryRun)
	if text == "" && done.Err == nil {
		return ""
	}
	if len(done.Decisions) > 1 || done.Group {
		text = count(len(done.Decisions), "application", "applications") + ": " + text
	}
	line := indent + visible(text) + "\n"
	if done.Err != nil {
		line = indent + r.paint.paint(colorRed, "failed") + " " + visible(text+": "+oneLine(done.Err)) + "\n"
	}
	return line + r.gates(done, indent)
}

// gates lists the gates that block an open pull request.
func (r reportRenderer) gates(done engine.Effect, indent string) string {
	var b strings.Builder
	for _, gate := range done.Gates {
		if r.details || gate.State != promotion.Passed {
			fmt.Fprintf(&b, "%sgate %s\n", indent, textRenderer{r.paint}.condition(gate))
		}
	}
	return b.String()
}

// effectText describes what was done and why, or in a dry run what would be done.
func effectText(done engine.Effect, dryRun bool) string {
	number := pullRequestName(done.Number, done.URL)
	because := ""
	if done.Reason.Message != "" {
		because = ": " + done.Reason.Message
	}
	switch done.Action {
	case engine.ActionPushed:
		return "pushed " + shortCommit(done.Commit) + because
	case engine.ActionOpened:
		return "opened " + number
	case engine.ActionRefreshed:
		return "refreshed " + number
	case engine.ActionMerged:
		return strings.TrimSpace("merged "+number+" "+shortCommit(done.Commit)) + because
	case engine.ActionClosed:
		return "closed " + number + because
	}
	if dryRun || done.Err != nil {
		return plannedText(done)
	}
	return openText(done)
}

// plannedText describes what would be done.
func plannedText(done engine.Effect) string {
	switch {
	case done.Step == pullrequest.StepPush:
		return "to be pushed"
	case done.Step == pullrequest.StepClose && done.Open != nil:
		return "to be closed: " + pullRequestName(done.Open.Number, done.Open.URL) + ": " + done.Reason.String()
	case done.Step == pullrequest.StepPropose && done.Open == nil:
		return "to be opened as a pull request"
	}
	return openText(done)
}

// openText names the open pull request, or a push that waits.
func openText(done engine.Effect) string {
	if done.Open == nil {
		if done.Step == pullrequest.StepWait && done.Reason.Rule == promotion.RuleGate {
			return "to be pushed when its gates allow"
		}
		return ""
	}
	text := "open " + pullRequestName(done.Open.Number, done.Open.URL)
	if done.Open.Foreign != "" {
		text += ", left alone: " + done.Open.Foreign
	}
	return text
}

func pullRequestName(number int, url string) string {
	return strings.TrimSpace(fmt.Sprintf("#%d %s", number, url))
}

// shortCommit abbreviates a commit for display.
func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// targetName omits the application if the config distinguishes none.
func targetName(target promotion.Target) string {
	if target.Application == config.DefaultApplication || target.Application == "" {
		return target.Environment
	}
	return target.Environment + "/" + target.Application
}
