package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/app"
	"promoter/internal/config"
	"promoter/internal/drift"
	"promoter/internal/explain"
	"promoter/internal/onboarding"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
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
			if results[i].Repository != "." { // a checkout, in this folder
				b.WriteString(r.heading(results[i].Repository))
			}
			b.WriteString(text)
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
	if len(groups.environments) > 0 {
		b.WriteString(r.drift(groups.drift[""]))
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
	actions      map[promotion.Target][]outcome.Effect // what was done about a target
	single       map[promotion.Target][]outcome.Effect // what remains to be done or failed, of one application
	others       map[string][]outcome.Effect           // of several applications, or of none
	paths        map[promotion.Target][]explain.Path   // of what a user asks about
	drift        map[string][]drift.Drift              // by environment; of the repository without one
}

// groupByEnvironment groups what is wanted of a report.
func groupByEnvironment(report outcome.Report, wanted func(promotion.Target) bool) groupedReport {
	g := groupedReport{
		decisions: map[string][]promotion.Decision{},
		actions:   map[promotion.Target][]outcome.Effect{},
		single:    map[promotion.Target][]outcome.Effect{},
		others:    map[string][]outcome.Effect{},
		paths:     map[promotion.Target][]explain.Path{},
		drift:     map[string][]drift.Drift{},
	}
	for _, one := range report.Drift {
		if isWanted(one, wanted) {
			g.drift[one.Environment] = append(g.drift[one.Environment], one)
		}
	}
	for _, path := range report.Paths {
		g.paths[path.Target] = append(g.paths[path.Target], path)
	}
	for _, decision := range report.Decisions {
		if wanted == nil || wanted(decision.Target) {
			g.environments = AppendNew(g.environments, decision.Environment)
			g.decisions[decision.Environment] = append(g.decisions[decision.Environment], decision)
		}
	}
	for _, effect := range report.Effects {
		if !isAbout(effect, wanted) {
			continue
		}
		name := effect.Environment.Name
		g.environments = AppendNew(g.environments, name)
		if effect.Action != outcome.ActionNone {
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

// isWanted reports whether a drift is about a wanted target, or about the repository.
func isWanted(one drift.Drift, wanted func(promotion.Target) bool) bool {
	return wanted == nil || one.Environment == "" || wanted(one.Target())
}

// drift has one line for each drift.
func (r Report) drift(all []drift.Drift) string {
	var b strings.Builder
	for _, one := range all[:min(len(all), maxListed)] {
		name := strings.TrimPrefix(TargetName(one.Target())+"  drift", "  ")
		fmt.Fprintf(&b, "  %s  %s\n", r.Paint.Paint(ColorBold, Visible(name)), Visible(one.String()))
	}
	if more := len(all) - maxListed; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}

// isAbout reports whether an effect is about a wanted target.
func isAbout(effect outcome.Effect, wanted func(promotion.Target) bool) bool {
	return wanted == nil || slices.ContainsFunc(effect.Decisions, func(d promotion.Decision) bool { return wanted(d.Target) })
}

// isSingle reports whether an effect is about one application alone.
func isSingle(effect outcome.Effect) bool { return len(effect.Decisions) == 1 && !effect.Group }

// environment prints the states of the targets of an environment, and what was done or
// remains to be done about them.
func (r Report) environment(g groupedReport, environment string) string {
	var b strings.Builder
	var states []row
	for _, decision := range g.decisions[environment] {
		actions, single := g.actions[decision.Target], g.single[decision.Target]
		one := row{
			application: decision.Application, state: decision.State, text: reason(decision),
			failed: decision.State == promotion.Refused,
		}
		details := ""
		for _, effect := range single {
			if r.Details && len(decision.Gates) > 0 {
				effect.Gates = nil // the decision lists them
			}
			if !r.acted {
				b.WriteString(r.action(effect))
			}
			details += r.effect(effect, "    ")
			one.failed = one.failed || effect.Err != nil
		}
		if r.Details || details != "" || addsToActions(decision, actions) || falseClaims(decision) != "" {
			one.details = r.details(decision) + falseClaims(decision) + details
			if len(g.decisions[environment]) <= maxListed { // those of many share one line
				one.details = pathLines(g.paths[decision.Target]) + one.details
			}
			states = append(states, one)
		}
	}
	for _, group := range collapse(states) {
		name := promotion.Target{Environment: environment}
		if len(group.applications) == 1 && !group.more {
			name.Application = group.application
		}
		fmt.Fprintf(&b, "  %s  %s  %s\n%s", r.Paint.Paint(ColorBold, Visible(TargetName(name))),
			r.Paint.Paint(stateColor(group.state), string(group.state)), Visible(group.reason(states)), group.details)
	}
	for _, effect := range g.others[environment] {
		if !r.acted {
			b.WriteString(r.action(effect))
		}
		b.WriteString(r.effect(effect, "  "+Visible(environment)+"  "))
	}
	b.WriteString(r.drift(g.drift[environment]))
	return b.String()
}

// addsToActions reports whether the state of a target adds something to what was done
// about it. The lines of the actions contain the versions and the reason.
func addsToActions(d promotion.Decision, actions []outcome.Effect) bool {
	if len(actions) == 0 {
		return true
	}
	return d.State != promotion.Same && d.Reason.String() != reasonFor(d.Target, actions[len(actions)-1])
}

// reason returns why a decision is as it is, until when, that what landed failed or is rejected, and the hold
// or freeze that is in effect though nothing is pending.
func reason(d promotion.Decision) string {
	text := reasonText(d.Reason)
	for _, note := range d.Notes {
		switch note.Rule {
		case promotion.RuleHeld, promotion.RuleFrozen, promotion.RuleFailed, promotion.RuleRejected:
			text += "; " + reasonText(note)
		}
	}
	return text
}

func reasonText(why promotion.Reason) string {
	if why.Until.IsZero() {
		return why.Message
	}
	return why.Message + ", until " + why.Until.UTC().Format(time.RFC3339)
}

// shortID is how much of the ID of a snapshot is printed: as many digits as of a commit.
// JSON has all of them.
const shortID = len("v1:") + 12

// details lists the snapshot, the conditions, and the gates of a decision.
func (r Report) details(d promotion.Decision) string {
	if !r.Details {
		return ""
	}
	var b strings.Builder
	if len(d.Snapshot) > 0 {
		id := d.Snapshot.ID()
		fmt.Fprintf(&b, "    snapshot %s (%s)\n", Visible(d.Snapshot.String()), id[:min(len(id), shortID)])
	}
	for _, note := range d.Notes {
		switch note.Rule {
		case promotion.RuleParent:
			fmt.Fprintf(&b, "    upstream %s\n", Visible(reasonText(note)))
		case promotion.RuleHealth:
			fmt.Fprintf(&b, "    health   %s\n", Visible(note.Message))
		}
	}
	for _, condition := range d.Conditions {
		fmt.Fprintf(&b, "    condition %s\n", textRenderer{r.Paint}.condition(condition))
	}
	for _, gate := range d.Gates {
		fmt.Fprintf(&b, "    gate %s\n", textRenderer{r.Paint}.condition(gate))
	}
	return b.String()
}

// pathLines lists the path of each component from the registry to a target.
func pathLines(paths []explain.Path) string {
	var b strings.Builder
	for _, path := range paths {
		for _, line := range path.Lines() {
			fmt.Fprintf(&b, "    %s\n", Visible(line))
		}
	}
	return b.String()
}

// falseClaims lists the commits whose files contradict their trailers.
func falseClaims(d promotion.Decision) string {
	var b strings.Builder
	for _, note := range d.Notes {
		if note.Rule == promotion.RuleFalseClaim {
			fmt.Fprintf(&b, "    %s\n", Visible(note.Message))
		}
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

// Scope names what a decision applies to, which may be everything.
func Scope(target promotion.Target) string {
	switch {
	case target.Environment == state.All:
		return "everywhere"
	case target.Application == state.All:
		return target.Environment
	default:
		return TargetName(target)
	}
}
