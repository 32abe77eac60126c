package render

import (
	"fmt"
	"strings"
	"time"

	"promoter/internal/app"
	"promoter/internal/explain"
	"promoter/internal/promotion"
	"promoter/internal/simulate"
)

// Simulation prints as text what would happen.
type Simulation struct {
	Paint  Painter
	Zone   *time.Location
	Wanted func(promotion.Target) bool // nil: all targets
}

func (s Simulation) wants(target promotion.Target) bool {
	if target.Application == "" { // a pull request about no application
		return true
	}
	return s.Wanted == nil || s.Wanted(target)
}

// Results prints all repositories.
func (s Simulation) Results(results []app.Result) string {
	var b strings.Builder
	for i := range results {
		if simulated := results[i].Simulation; simulated != nil && !simulated.From.IsZero() {
			b.WriteString(s.Paint.Paint(ColorBold, Visible(results[i].Repository)) + "\n" + s.result(*simulated))
		}
	}
	return b.String()
}

func (s Simulation) result(simulated simulate.Result) string {
	var b strings.Builder
	var last time.Time
	heading := func(at time.Time, after string) {
		fmt.Fprintf(&b, "  %s%s\n", s.Paint.Paint(ColorCyan, s.time(at)), after)
	}
	for _, event := range simulated.Events {
		if !s.wants(event.Target) {
			continue
		}
		if !event.At.Equal(last) {
			after := ""
			if event.At.Equal(simulated.From) {
				after = ", now"
			}
			last = event.At
			heading(last, after)
		}
		fmt.Fprintf(&b, "    %s  %s\n", s.Paint.Paint(ColorBold, Visible(TargetName(event.Target))), s.event(event))
	}
	end := ", the end: "
	switch {
	case simulated.Stopped:
		end += "too much changes to go on"
	case simulated.Next.IsZero():
		end += "nothing more changes by itself"
	default:
		end += "the next change is " + s.time(simulated.Next)
	}
	heading(simulated.Until, end)
	for _, wait := range simulated.Waits {
		if s.wants(wait.Target) {
			fmt.Fprintf(&b, "    %s  %s\n", s.Paint.Paint(ColorBold, Visible(TargetName(wait.Target))), s.wait(wait))
		}
	}
	return b.String()
}

func (s Simulation) event(event simulate.Event) string {
	if event.Kind == simulate.Passed {
		return Visible(event.Message)
	}
	text := s.Paint.Paint(ColorGreen, string(event.Kind))
	if event.Assumed {
		text += " by a user, as assumed"
	}
	if event.Number > 0 {
		text += fmt.Sprintf("  #%d", event.Number)
	}
	return text + "  " + Visible(event.Message)
}

// wait prints what a target waits for, and what a user can do.
func (s Simulation) wait(wait simulate.Wait) string {
	text := ""
	for _, move := range wait.Moves {
		text += move.String() + ", "
	}
	text = s.Paint.Paint(ColorYellow, strings.TrimSuffix(text, ", "))
	if text != "" {
		text += "  "
	}
	text += "waits for " + waitsFor(wait.Blocker)
	if wait.Until != nil {
		text += ", until " + s.time(*wait.Until)
	}
	if wait.Advice != "" {
		text += " (" + wait.Advice + ")"
	}
	return Visible(text)
}

// waitsFor names what blocks, without its time.
func waitsFor(b explain.Blocker) string {
	b.Until = nil
	if b.Kind == explain.Merge {
		return "a user to merge it"
	}
	return b.String()
}

// time prints a time with its zone; seconds only where it has some.
func (s Simulation) time(at time.Time) string {
	layout := "Mon 2006-01-02 15:04 MST"
	if at.Second() != 0 || at.Nanosecond() != 0 {
		layout = "Mon 2006-01-02 15:04:05 MST"
	}
	return at.In(s.Zone).Format(layout)
}

// simulationSchema is the version of the JSON format of simulate, as planSchema is.
const simulationSchema = 1

type simulationsJSON struct {
	Schema       int              `json:"schema"`
	Repositories []simulationJSON `json:"repositories"`
}

type simulationJSON struct {
	Repository string             `json:"repository"`
	Failed     bool               `json:"failed"`
	From       *time.Time         `json:"from,omitempty"`
	Until      *time.Time         `json:"until,omitempty"`
	Next       *time.Time         `json:"next,omitempty"` // the next change after the end
	Stopped    bool               `json:"stopped,omitempty"`
	Events     []eventJSON        `json:"events"`
	Waits      []waitJSON         `json:"waits"`
	Errors     []partialErrorJSON `json:"errors"`
	// Environments are the targets as they would be at the end.
	Environments []environmentJSON `json:"environments"`
}

type eventJSON struct {
	At          time.Time     `json:"at"`
	Environment string        `json:"environment"`
	Application string        `json:"application,omitempty"`
	Kind        simulate.Kind `json:"kind"`
	Message     string        `json:"message"`
	PullRequest int           `json:"pullRequest,omitempty"`
	Assumed     bool          `json:"assumed,omitempty"`
}

type waitJSON struct {
	Environment string     `json:"environment"`
	Application string     `json:"application"`
	Moves       []moveJSON `json:"moves"`
	explain.Blocker
}

// SimulationJSON returns what would happen for programs.
func SimulationJSON(results []app.Result, wanted func(promotion.Target) bool) any {
	out := simulationsJSON{Schema: simulationSchema, Repositories: []simulationJSON{}}
	s := Simulation{Wanted: wanted}
	for i := range results {
		all := repositoryToJSON(&results[i], wanted)
		one := simulationJSON{
			Repository: all.Repository, Failed: all.Failed, Errors: all.Errors, Environments: all.Environments,
			Events: []eventJSON{}, Waits: []waitJSON{},
		}
		if simulated := results[i].Simulation; simulated != nil && !simulated.From.IsZero() {
			one.From, one.Until = utc(simulated.From), utc(simulated.Until)
			one.Next, one.Stopped = utc(simulated.Next), simulated.Stopped
			for _, e := range simulated.Events {
				if s.wants(e.Target) {
					event := eventJSON{e.At.UTC(), e.Environment, e.Application, e.Kind, e.Message, e.Number, e.Assumed}
					one.Events = append(one.Events, event)
				}
			}
			for _, w := range simulated.Waits {
				if s.wants(w.Target) {
					one.Waits = append(one.Waits, waitJSON{w.Environment, w.Application, movesToJSON(w.Moves), w.Blocker})
				}
			}
		}
		out.Repositories = append(out.Repositories, one)
	}
	return out
}

// utc returns a time for JSON; nil: there is none.
func utc(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}
