package render

import (
	"fmt"
	"io"
	"strings"

	"promoter/internal/app"
	"promoter/internal/checkout"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
)

// PrintPlanSummary summarizes a plan.
func PrintPlanSummary(w io.Writer, preview *checkout.Preview) {
	text := "nothing to change"
	switch applications, files, changes := preview.Count(); {
	case applications > 0:
		text = fmt.Sprintf("%s in %s for %s; 'promoter apply' writes them", Count(changes, "change", "changes"),
			Count(files, "file", "files"), Count(applications, "application", "applications"))
	case preview.Changed():
		text += " here"
	}
	if n := preview.Waiting(); n > 0 {
		text += "; " + Count(n, "application waits", "applications wait")
	}
	PrintMessage(w, "%s", text)
	printOtherBranches(w, preview, "'promoter apply' does not write it here")
}

// maxStopped is how many targets that user decisions stop are listed.
const maxStopped = 5

// PrintCheckoutWarnings prints what a checkout cannot know, and what user decisions stop.
func PrintCheckoutWarnings(w io.Writer, preview *checkout.Preview) {
	_ = Write(w, ProblemLines(preview.Warnings)) // as other messages
	var waiting, ignored, stopped int
	var reasons []string // of user decisions that are ignored
	for i := range preview.Targets {
		target := &preview.Targets[i]
		switch proposed := target.Changed(); {
		case proposed && target.Stopped != "":
			reasons = append(reasons, previewName(target)+": "+target.Stopped)
		case target.Stopped != "":
			stopped++
		case proposed && target.Unevaluated():
			ignored++
		case target.State == promotion.Waiting && target.Unevaluated():
			waiting++
		}
	}
	if preview.Decisions {
		PrintMessage(w, "user decisions are those of origin/%s as last fetched; they stop %s", state.Branch,
			Count(stopped+len(reasons), "application", "applications"))
	}
	if waiting > 0 {
		PrintMessage(w, "warning: conditions of %s are not evaluated in a checkout: 'promoter apply' writes there only with --env NAME",
			Count(waiting, "application", "applications"))
	}
	if ignored > 0 {
		PrintMessage(w, "warning: conditions of %s are not evaluated in a checkout, and --env ignores them",
			Count(ignored, "application", "applications"))
	}
	if len(reasons) > 0 {
		PrintMessage(w, "warning: --env ignores what stops %s:", Count(len(reasons), "application", "applications"))
		for _, reason := range reasons[:min(len(reasons), maxStopped)] {
			PrintDetail(w, "  %s", reason)
		}
		if more := len(reasons) - maxStopped; more > 0 {
			PrintDetail(w, "  and %d more", more)
		}
	}
}

// printOtherBranches prints what changes on branches that are not checked out.
func printOtherBranches(w io.Writer, preview *checkout.Preview, what string) {
	for i := range preview.Targets {
		if target := &preview.Targets[i]; target.Changed() && !target.OnDisk {
			PrintMessage(w, "%s: %s: its branch is not checked out", previewName(target), what)
		}
	}
}

// PrintApplySummary summarizes what apply wrote.
func PrintApplySummary(w io.Writer, preview *checkout.Preview, applied checkout.Applied) {
	if len(applied.Files) == 0 {
		PrintMessage(w, "nothing written")
	} else {
		PrintMessage(w, "wrote %s", Count(len(applied.Files), "file", "files"))
	}
	printOtherBranches(w, preview, "not written")
}

// plannedAs returns what a run would do that a dry run did not; empty: nothing.
func plannedAs(effect outcome.Effect) string {
	switch {
	case effect.Planned && effect.Step == propose.StepPush:
		return "pushed"
	case effect.Planned:
		return "merged"
	case effect.Step == propose.StepPropose && effect.Open == nil && effect.Action == outcome.ActionNone:
		return "opened"
	default:
		return ""
	}
}

// PrintRunSummary summarizes a run.
func PrintRunSummary(w io.Writer, results []app.Result, dryRun bool) {
	actions := map[outcome.Action]int{}
	planned := map[string]int{}
	var failed, unfinished, refused, waiting int
	for i := range results {
		switch {
		case results[i].Unfinished:
			unfinished++
		case results[i].Failed():
			failed++
		}
		for _, effect := range results[i].Report.Effects {
			if effect.Err == nil {
				actions[effect.Action]++
				planned[plannedAs(effect)]++
			}
		}
		for _, decision := range results[i].Report.Decisions {
			switch {
			case decision.State == promotion.Refused:
				refused++
			case decision.State == promotion.Waiting && len(decision.Moves) > 0:
				waiting++
			}
		}
		if offered := results[i].Onboarding; offered != nil {
			actions[outcome.Action(offered.State)]++ // the states have the names of actions
		}
	}
	var parts []string
	for _, action := range []outcome.Action{
		outcome.ActionPushed, outcome.ActionOpened, outcome.ActionRefreshed,
		outcome.ActionUpdated, outcome.ActionMerged, outcome.ActionClosed,
	} {
		if n := actions[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	if refused > maxListed {
		parts = append(parts, Count(refused, "application refused", "applications refused"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case dryRun:
		text = "nothing was written"
		for _, what := range []string{"pushed", "merged", "opened"} {
			if n := planned[what]; n > 0 {
				text += fmt.Sprintf("; %d to be %s", n, what)
			}
		}
	case text == "" && unfinished > 0:
		text = "nothing was written"
	case text == "" && (failed == 0 || failed < len(results)):
		text = "nothing to do"
		if waiting > maxListed {
			text = "nothing to do now"
		}
	}
	if waiting > maxListed && text != "" {
		text += fmt.Sprintf("; %d wait", waiting)
	}
	if failed > 0 {
		text = strings.TrimPrefix(text+"; "+Count(failed, "repository failed", "repositories failed"), "; ")
	}
	if unfinished > 0 {
		text += fmt.Sprintf("; %d not finished", unfinished)
	}
	PrintMessage(w, "%s: %s", Count(len(results), "repository", "repositories"), text)
}
