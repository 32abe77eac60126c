package render

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
)

// Report prints as text what a reconciliation observed and did.
type Report struct {
	Paint   Painter
	DryRun  bool
	Details bool                        // also conditions and gates, and every target
	acted   bool                        // what was done is printed already
	Wanted  func(promotion.Target) bool // nil: all targets
}

// Results prints all repositories.
func (r Report) Results(results []app.Result) string {
	var b strings.Builder
	for i := range results {
		if text := r.result(&results[i]); text != "" {
			b.WriteString(r.heading(results[i].Repository) + text)
		}
	}
	return b.String()
}

func (r Report) heading(repository string) string {
	return r.Paint.Paint(ColorBold, Visible(repository)) + "\n"
}

// result prints one repository, without its heading.
func (r Report) result(result *app.Result) string {
	groups := groupByEnvironment(result.Report, r.Wanted)
	var b strings.Builder
	if offered := result.Onboarding; offered != nil && !(r.acted && offered.Acted()) {
		b.WriteString("  " + Visible(onboardingText(*offered)) + "\n")
	}
	for _, environment := range groups.environments {
		b.WriteString(r.environment(groups, environment))
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

// groupedReport is a report grouped by environment.
type groupedReport struct {
	environments []string
	decisions    map[string][]promotion.Decision
	actions      map[promotion.Target][]engine.Effect // what was done about a target
	single       map[promotion.Target][]engine.Effect // what remains to be done or failed, of one application
	others       map[string][]engine.Effect           // of several applications, or of none
}

// groupByEnvironment groups what is wanted of a report.
func groupByEnvironment(report engine.Report, wanted func(promotion.Target) bool) groupedReport {
	g := groupedReport{
		decisions: map[string][]promotion.Decision{},
		actions:   map[promotion.Target][]engine.Effect{},
		single:    map[promotion.Target][]engine.Effect{}, others: map[string][]engine.Effect{},
	}
	for _, decision := range report.Decisions {
		if name := decision.Environment; wanted == nil || wanted(decision.Target) {
			g.environments = AppendNew(g.environments, name)
			g.decisions[name] = append(g.decisions[name], decision)
		}
	}
	for _, effect := range report.Effects {
		if !isAbout(effect, wanted) {
			continue
		}
		name := effect.Environment.Name
		g.environments = AppendNew(g.environments, name)
		if effect.Action != engine.ActionNone {
			for _, decision := range effect.Decisions {
				g.actions[decision.Target] = append(g.actions[decision.Target], effect)
			}
		}
		if isSingle(effect) {
			target := effect.Decisions[0].Target
			g.single[target] = append(g.single[target], effect)
		} else {
			g.others[name] = append(g.others[name], effect)
		}
	}
	return g
}

// isAbout reports whether an effect is about a wanted target.
func isAbout(effect engine.Effect, wanted func(promotion.Target) bool) bool {
	return wanted == nil || slices.ContainsFunc(effect.Decisions, func(d promotion.Decision) bool { return wanted(d.Target) })
}

// isSingle reports whether an effect is about one application alone.
func isSingle(effect engine.Effect) bool { return len(effect.Decisions) == 1 && !effect.Group }

// maxUnchanged is how many targets of one environment are listed if they have nothing to
// do.
const maxUnchanged = 10

func (r Report) environment(g groupedReport, environment string) string {
	var b strings.Builder
	unchanged := map[promotion.State]int{}
	decisions := g.decisions[environment]
	for _, decision := range decisions {
		actions, single := g.actions[decision.Target], g.single[decision.Target]
		if !r.Details && len(decisions) > maxUnchanged && isUnchanged(decision.State) && len(actions)+len(single) == 0 {
			unchanged[decision.State]++
			continue
		}
		var done, details string
		for _, effect := range single {
			if r.Details && len(decision.Gates) > 0 {
				effect.Gates = nil // the decision lists them
			}
			if !r.acted {
				done += r.action(effect)
			}
			details += r.effect(effect, "    ")
		}
		b.WriteString(done)
		if r.Details || details != "" || addsToActions(decision, actions) {
			b.WriteString(r.decision(decision) + details)
		}
	}
	for _, state := range []promotion.State{promotion.Same, promotion.Absent} {
		if n := unchanged[state]; n > 0 {
			fmt.Fprintf(&b, "  %s  %s  %s\n", environment, state, Count(n, "application", "applications"))
		}
	}
	for _, effect := range g.others[environment] {
		if !r.acted {
			b.WriteString(r.action(effect))
		}
		b.WriteString(r.effect(effect, "  "+Visible(environment)+"  "))
	}
	return b.String()
}

// addsToActions reports whether the state of a target adds something to what was done
// about it. The lines of the actions contain the versions and the reason.
func addsToActions(d promotion.Decision, actions []engine.Effect) bool {
	if len(actions) == 0 {
		return true
	}
	return d.State != promotion.Same && d.Reason.String() != reasonFor(d.Target, actions[len(actions)-1])
}

func isUnchanged(state promotion.State) bool {
	return state == promotion.Same || state == promotion.Absent
}

func (r Report) decision(d promotion.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s  %s", r.Paint.Paint(ColorBold, Visible(TargetName(d.Target))),
		r.Paint.Paint(stateColor(d.State), string(d.State)), Visible(d.Reason.String()))
	if !d.Reason.Until.IsZero() {
		b.WriteString(", until " + d.Reason.Until.UTC().Format(time.RFC3339))
	}
	b.WriteString("\n")
	if !r.Details {
		return b.String()
	}
	if len(d.Snapshot) > 0 {
		fmt.Fprintf(&b, "    snapshot %s (%s)\n", Visible(d.Snapshot.String()), d.Snapshot.ID())
	}
	for _, condition := range d.Conditions {
		fmt.Fprintf(&b, "    condition %s\n", textRenderer{r.Paint}.condition(condition))
	}
	for _, gate := range d.Gates {
		fmt.Fprintf(&b, "    gate %s\n", textRenderer{r.Paint}.condition(gate))
	}
	return b.String()
}

// TargetName omits the application if the config distinguishes none.
func TargetName(target promotion.Target) string {
	if target.Application == config.DefaultApplication || target.Application == "" {
		return target.Environment
	}
	return target.Environment + "/" + target.Application
}
