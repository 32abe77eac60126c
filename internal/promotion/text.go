package promotion

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/state"
)

// Actor names the user of a decision.
func Actor(act state.Act) string {
	if act.By.Login == "" {
		return "an unknown user"
	}
	return act.By.Login
}

// Because returns the reason that the user gave, after a colon; empty if there is none.
func Because(act state.Act) string {
	if act.Reason == "" {
		return ""
	}
	return ": " + act.Reason
}

// Day formats a time of which the day is enough.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Moment formats a time.
func Moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// SortedNames lists names, each once.
func SortedNames(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// Appended returns two texts, either of which may be empty, as one.
func Appended(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "; " + more
}

// AppliesText describes, after a semicolon, under which name a decision was made that applies to a target under
// another one. It is empty if the decision names the target. How it was decided is one word, such as "held".
func AppliesText(decided string, a state.Applies, at state.Target) string {
	text := "; " + decided + " as " + a.As.String()
	if a.As.Application == state.All {
		at.Application = state.All
	}
	switch {
	case a.How == state.Named:
		return ""
	case a.How == state.HasFiles && a.Gone:
		return text + "; renamed to " + at.String()
	case a.How == state.HasFiles:
		return text + ", which had these files then"
	case a.How == state.Appeared && a.Gone:
		return text + ", which is gone: what appeared since may be the same under another name"
	case a.How == state.Appeared:
		return text + ", whose files are gone: what appeared since may be the same under another name"
	default:
		return text + ", which is gone, and it is not recorded which files it had"
	}
}

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
				command += " " + Move{Component: component, To: image.Version{Tag: rejected.Tag, Digest: rejected.Digest}}.Named()
			}
		}
	}
	end := "'promoter " + command + " --env " + g.Of.Environment
	if g.Of.Application != state.All {
		end += Target(g.Of).ApplicationFlag()
	}
	return end + "' ends it; to move it, " + again + " under the new name first"
}
