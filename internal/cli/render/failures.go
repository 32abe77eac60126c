package render

import (
	"io"
	"maps"
	"slices"
	"strings"

	"promoter/internal/app"
	"promoter/internal/checkout"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
)

// PrintFailures prints one line for each part that failed, and one for each host that
// several of them could not reach. The results as text list the targets that failed.
func PrintFailures(w io.Writer, results []app.Result, output string) {
	hosts, unfinished := unreachableHosts{}, []string{}
	for i := range results {
		result := &results[i]
		if result.Unfinished {
			unfinished = append(unfinished, result.Repository)
		}
		hosts.add(result.Repository, "", result.Err)
		for _, partial := range result.Report.Errors {
			hosts.add(result.Repository, partial.What, partial.Err)
		}
	}
	hosts.print(w)
	for i := range results {
		result := &results[i]
		name := result.Repository
		if moved, ok := result.Moved(); ok {
			PrintMessage(w, "%s: it is called %s now: use that name", name, moved)
		}
		if result.Err != nil && !hosts.printed(result.Err) {
			PrintMessage(w, "%s: %s", name, oneLine(result.Err))
		}
		if result.Report.Unusable != "" && (result.Onboarding == nil || result.Failed()) {
			PrintMessage(w, "%s: %s", name, result.Report.Unusable)
		}
		for _, partial := range result.Report.Errors {
			if !hosts.printed(partial.Err) {
				PrintMessage(w, "%s: %s: %s", name, partial.What, oneLine(partial.Err))
			}
		}
		if output != "text" {
			printFailedTargets(w, name, result.Report)
		}
	}
	if len(unfinished) > 0 {
		PrintMessage(w, "not finished: %s", fault.List(unfinished))
	}
}

// PrintGone prints a line for each decision whose target is gone, with what it stops now, and how a user ends it.
func PrintGone(w io.Writer, results []app.Result) {
	for i := range results {
		read := results[i].Report.UserDecisions
		if len(read) == 0 {
			continue
		}
		for _, gone := range promotion.GoneDecisions(read[len(read)-1]) {
			PrintMessage(w, "%s: %s: %s", results[i].Repository, gone, gone.Fix())
		}
	}
}

// printFailedTargets prints one line for each target that was refused or failed.
func printFailedTargets(w io.Writer, repository string, report outcome.Report) {
	for _, decision := range report.Decisions {
		if decision.State == promotion.Refused {
			PrintMessage(w, "%s: %s: refused: %s", repository, TargetName(decision.Target), decision.Reason)
		}
		for _, left := range decision.Left {
			if left.Reason.Rule != promotion.RuleRefused {
				continue
			}
			PrintMessage(w, "%s: %s: refused: %s: %s", repository, TargetName(decision.Target), left.Move.Component, left.Reason)
		}
	}
	for _, effect := range report.Effects {
		if effect.Err == nil {
			continue
		}
		name := effect.Environment.Name
		if isSingle(effect) {
			name = TargetName(effect.Decisions[0].Target)
		}
		PrintMessage(w, "%s: %s: %s", repository, name, oneLine(effect.Err))
	}
}

// PrintPreviewErrors prints what could not be planned. The plan as text lists what was
// refused.
func PrintPreviewErrors(w io.Writer, preview *checkout.Preview, output string) {
	hosts := unreachableHosts{}
	for _, e := range preview.Errors {
		hosts.add("", componentPrefix+e.Component, e.Err)
	}
	hosts.print(w)
	for _, e := range preview.Errors {
		if !hosts.printed(e.Err) {
			PrintMessage(w, "%s: %v", e.Component, e.Err)
		}
	}
	for _, repository := range preview.Unused {
		PrintMessage(w, "no file refers to %s", repository.Familiar())
	}
	for _, glob := range preview.NoFiles {
		PrintMessage(w, "no file matches %s", glob)
	}
	if output == "text" {
		return
	}
	for i := range preview.Targets {
		target := &preview.Targets[i]
		if len(target.Refusals) > 0 {
			PrintMessage(w, "%s: refused: %s", previewName(target), target.Refusals[0])
		}
	}
}

// componentPrefix is how a reconciliation names a component that failed.
const componentPrefix = "component "

// unreachableHosts are the hosts that could not be reached, with what they affect.
type unreachableHosts map[string]*unreachableHost

type unreachableHost struct {
	cause        string
	paused       bool            // the cause is only that it gets no requests
	repositories map[string]bool // that have affected parts, or are affected as a whole
	parts        map[string]bool // a repository, or one of its components
	components   int
}

// add adds an error of a component, or of a whole repository.
func (u unreachableHosts) add(repository, what string, err error) {
	host, cause, unreachable := outbound.Unreachable(err)
	if !unreachable {
		return
	}
	// After some failures the host gets no more requests. The failures before have the reason.
	paused := fault.KindOf(err) == fault.RateLimited
	one := u[host]
	if one != nil && one.paused && !paused {
		one.cause, one.paused = cause, false
	}
	if one == nil {
		one = &unreachableHost{cause: cause, paused: paused, repositories: map[string]bool{}, parts: map[string]bool{}}
		u[host] = one
	}
	part := repository + "\n" + what
	if !one.parts[part] && strings.HasPrefix(what, componentPrefix) {
		one.components++
	}
	one.repositories[repository], one.parts[part] = true, true
}

// printed reports whether the line of a host covers an error. One that affects a single
// part has no line of its own.
func (u unreachableHosts) printed(err error) bool {
	host, _, unreachable := outbound.Unreachable(err)
	return unreachable && len(u[host].parts) > 1
}

// print prints one line for each host.
func (u unreachableHosts) print(w io.Writer) {
	for _, host := range slices.Sorted(maps.Keys(u)) {
		one := u[host]
		if len(one.parts) < 2 {
			continue
		}
		affected, only := Count(one.components, "component", "components"), slices.Collect(maps.Keys(one.repositories))[0]
		prefix := ""
		switch repositories := Count(len(one.repositories), "repository", "repositories"); {
		case one.components == 0:
			affected = repositories
		case len(one.repositories) > 1:
			affected += " in " + repositories
		case only != "":
			prefix = only + ": "
		}
		PrintMessage(w, "%s%s cannot be reached, which affects %s: %s", prefix, host, affected, one.cause)
	}
}
