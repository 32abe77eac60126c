package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/app"
	"promoter/internal/config"
	"promoter/internal/engine"
)

// reportRenderer prints what a pass saw and did, as text.
type reportRenderer struct {
	paint   painter
	dryRun  bool
	details bool                        // conditions and gates too, and every place
	wanted  func(promotion.Target) bool // nil: all places
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
	if came := result.Onboarding; came != nil {
		b.WriteString("  " + visible(onboardingInWords(*came)) + "\n")
	}
	for _, environment := range shown.environments {
		b.WriteString(r.environment(shown, environment))
	}
	return b.String()
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
		if concerns(done, wanted) {
			s.enter(done.Environment.Name)
			s.file(done)
		}
	}
	return s
}

// concerns says whether a proposal is about a place that is shown.
func concerns(done engine.Effect, wanted func(promotion.Target) bool) bool {
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

// maxQuiet is how many places of one environment are listed although nothing is
// to be done there.
const maxQuiet = 10

func (r reportRenderer) environment(s shown, environment string) string {
	var b strings.Builder
	quiet := map[promotion.State]int{}
	decisions := s.decisions[environment]
	for _, decision := range decisions {
		if !r.details && len(decisions) > maxQuiet && isQuiet(decision.State) && len(s.alone[decision.Target]) == 0 {
			quiet[decision.State]++
			continue
		}
		b.WriteString(r.decision(decision))
		for _, done := range s.alone[decision.Target] {
			if r.details && len(decision.Gates) > 0 {
				done.Gates = nil // they stand there already
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

func isQuiet(state promotion.State) bool { return state == promotion.Same || state == promotion.Absent }

func (r reportRenderer) decision(d promotion.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s  %s", r.paint.paint(colorBold, visible(nameOf(d.Target))),
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

// done prints what came of a proposal, or what would; nothing where nothing is
// open and nothing was done.
func (r reportRenderer) done(done engine.Effect, indent string) string {
	text := actInWords(done, r.dryRun)
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

// gates shows what keeps an open pull request from landing.
func (r reportRenderer) gates(done engine.Effect, indent string) string {
	var b strings.Builder
	for _, gate := range done.Gates {
		if r.details || gate.State != promotion.Passed {
			fmt.Fprintf(&b, "%sgate %s\n", indent, textRenderer{r.paint}.condition(gate))
		}
	}
	return b.String()
}

// nameOf leaves the application out where the config tells none apart.
func nameOf(target promotion.Target) string {
	if target.Application == config.DefaultApplication || target.Application == "" {
		return target.Environment
	}
	return target.Environment + "/" + target.Application
}
