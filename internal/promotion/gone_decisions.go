package promotion

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/state"
)

// GoneDecision is a decision that is in effect although its target is gone.
type GoneDecision struct {
	state.Stop
	Stops []Target // what it stops now under other names, sorted
}

// GoneDecisions returns the decisions whose target is gone, sorted.
func GoneDecisions(s state.State) []GoneDecision {
	gone := s.Gone()
	all := make([]GoneDecision, 0, len(gone))
	for _, stop := range gone {
		one := GoneDecision{Stop: stop}
		for _, target := range s.Elsewhere(stop) {
			one.Stops = append(one.Stops, Target(target))
		}
		all = append(all, one)
	}
	return all
}

// GoneProblems returns a warning for each decision whose target is gone, about a config file.
func GoneProblems(s state.State, file string) config.Problems {
	var problems config.Problems
	for _, gone := range GoneDecisions(s) {
		problems = append(problems, config.Problem{
			Severity: config.SeverityWarning, Position: config.Position{File: file, Line: 1, Column: 1},
			Message: gone.String(), Hint: gone.Fix(),
		})
	}
	return problems
}

// maxStops is how many targets a message lists.
const maxStops = 5

// String describes the decision, and what it stops now.
func (g GoneDecision) String() string {
	what := map[state.Kind]string{state.KindHold: "the hold", state.KindFreeze: "the freeze", state.KindReject: "the rejection"}[g.Kind]
	text := what + " of " + g.Of.String() + " by " + Actor(g.Act) + " on " + Day(g.Act.At) + Because(g.Act) +
		" is about a target that does not exist now; it stops "
	if len(g.Stops) == 0 {
		return text + "nothing"
	}
	var names []string
	for _, target := range g.Stops[:min(len(g.Stops), maxStops)] {
		names = append(names, target.Name())
	}
	text += strings.Join(names, ", ")
	if more := len(g.Stops) - maxStops; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// Fix returns how a user ends the decision, or moves it to another name.
func (g GoneDecision) Fix() string {
	command, again := "resume", "hold"
	if g.Kind == state.KindFreeze {
		command, again = "thaw", "freeze"
	}
	if g.Kind == state.KindReject {
		command, again = "unreject", "reject"
		for _, component := range slices.Sorted(maps.Keys(g.Rejection.Images)) {
			if rejected, err := image.Parse(g.Rejection.Images[component]); err == nil {
				command += " " + Move{Component: component, To: rejected.Version()}.Named()
			}
		}
	}
	end := "'promoter " + command + " --env " + g.Of.Environment
	if g.Of.Application != state.All {
		end += Target(g.Of).ApplicationFlag()
	}
	return end + "' ends it; to move it, " + again + " under the new name first"
}
