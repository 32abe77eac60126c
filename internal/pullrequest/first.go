package pullrequest

import (
	"fmt"
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/suggest"
)

// First is what the first reconciliation with a new config file does in one environment.
type First struct {
	Environment string
	Proposed    []promotion.Decision
	Manual      []promotion.Decision // that wait for a request of a user
	Waiting     []promotion.Decision // that wait for something else
	Unknown     []promotion.Decision // whose registry did not answer
}

// FirstReconciliation divides the decisions of a dry run by environment, in their order.
// Environments in which nothing changes are left out.
func FirstReconciliation(decisions []promotion.Decision) (all []First) {
	for _, d := range decisions {
		unknown := d.State == promotion.Unanswered
		changes := d.State.IsUnderway() && len(d.Moves) > 0
		if !changes && !unknown {
			continue
		}
		i := slices.IndexFunc(all, func(f First) bool { return f.Environment == d.Environment })
		if i < 0 {
			i, all = len(all), append(all, First{Environment: d.Environment})
		}
		f := &all[i]
		switch {
		case unknown:
			f.Unknown = append(f.Unknown, d)
		case d.State == promotion.Proposed:
			f.Proposed = append(f.Proposed, d)
		case d.Reason.Rule == promotion.RulePropose:
			f.Manual = append(f.Manual, d)
		default:
			f.Waiting = append(f.Waiting, d)
		}
	}
	return all
}

// Starts returns how carefully the environments of a suggested config begin. What is unknown
// may be proposed.
func Starts(all []First) map[string]suggest.Start {
	starts := map[string]suggest.Start{}
	for _, f := range all {
		versions := 0 // at most in one promotion
		for _, d := range f.Proposed {
			versions = max(versions, len(d.Moves))
		}
		starts[f.Environment] = suggest.StartWith(len(f.Proposed)+len(f.Unknown), versions)
	}
	return starts
}

// FirstLine is a line about some promotions, with the first of them by name.
type FirstLine struct {
	Text       string
	Promotions []string
	More       int // that are not named
}

// Lines describes what the reconciliation does.
func (f First) Lines() (lines []FirstLine) {
	add := func(decisions []promotion.Decision, format string) {
		if len(decisions) == 0 {
			return
		}
		promotions := "1 promotion"
		if len(decisions) > 1 {
			promotions = fmt.Sprint(len(decisions), " promotions")
		}
		line := FirstLine{Text: f.Environment + ": " + promotions + " " + format}
		for _, d := range decisions[:min(len(decisions), maxOnboardingItems)] {
			line.Promotions = append(line.Promotions, d.Name()+": "+items(d.Moves, promotion.Move.String))
		}
		line.More = len(decisions) - len(line.Promotions)
		lines = append(lines, line)
	}
	add(f.Proposed, "to propose")
	add(f.Manual, "to request, because of propose: manual")
	if len(f.Waiting) > 0 {
		add(f.Waiting, "waiting, the first because: "+f.Waiting[0].Reason.Message)
	}
	if n := len(f.Unknown); n > 0 {
		line := FirstLine{Text: f.Environment + ": unknown, because a registry did not answer"}
		for _, d := range f.Unknown[:min(n, maxOnboardingItems)] {
			line.Promotions = append(line.Promotions, d.Name())
		}
		line.More = n - len(line.Promotions)
		lines = append(lines, line)
	}
	return lines
}
