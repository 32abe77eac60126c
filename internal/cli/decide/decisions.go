package decide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// NewDecisions returns the command decisions.
func NewDecisions(system console.System) *cobra.Command {
	var flags flag.Targets
	var environment, application string
	command := &cobra.Command{
		Use:   "decisions",
		Short: "List holds, freezes, rollbacks, rejections, and pending requests",
		Long: `decisions lists what users decided and what is still in effect: holds, freezes, rollbacks,
rejections, and promotions that are requested and not done yet, with the user, time, and reason.
It reads the branch promoter/_state of the repositories of --repo, or of the server file. A pull
request that a user closed is a rejection with its number. A snapshot that a pipeline posted is a
requested promotion with its name.

A decision whose target is gone has what it stops now, and how to end it. With --env and --app,
decisions that stop the target under another name are listed as well.

Versions that a user reverted in Git are not listed: 'promoter explain' shows them.

Exit codes: 0 success; 1 a repository could not be read.`,
		Example: `  promoter decisions
  promoter decisions --env prod --repo https://github.com/acme/gitops`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			server, err := flags.Open(system)
			if err != nil {
				return err
			}
			progress := console.NewProgress(system)
			results, err := app.Decisions(command.Context(), server, flags.Options(system, progress))
			progress.Clear()
			if err != nil {
				return err
			}
			// A decision about everything applies to each environment and application.
			applies := func(wanted, has string) bool { return wanted == "" || has == wanted || has == state.All }
			found := decisionsInEffect(results, time.Now(), func(target state.Target) bool {
				return applies(environment, target.Environment) && applies(application, target.Application)
			})
			if err := render.PrintAs(system.Out, flags.Output, found, func() string { return decisionsText(found) }); err != nil {
				return fmt.Errorf("print the decisions: %w", err)
			}
			if len(found.Decisions) == 0 && flags.Output == "text" {
				render.PrintMessage(system.Err, "no decision is in effect")
			}
			render.PrintFailures(system.Err, results, flags.Output)
			return console.ExitOf(results)
		},
	}
	flags.Add(command)
	command.Flags().StringVar(&environment, "env", "", flag.EnvUsage)
	command.Flags().StringVar(&application, "app", "", flag.AppUsage)
	return command
}

// decisionsSchema is the version of the JSON format, as planSchema is.
const decisionsSchema = 1

// decisionsJSON is what decisions prints with -o json.
type decisionsJSON struct {
	Schema    int            `json:"schema"`
	Decisions []inEffectJSON `json:"decisions"`
}

// inEffectJSON is a decision in effect.
type inEffectJSON struct {
	Repository  string            `json:"repository"`
	Environment string            `json:"environment"` // _all: of the repository
	Application string            `json:"application"` // _all: of the environment
	Verb        verb.Verb         `json:"verb"`
	By          api.User          `json:"by"`
	At          time.Time         `json:"at"`
	Until       *time.Time        `json:"until,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Images      map[string]string `json:"images,omitempty"`
	From        []string          `json:"from,omitempty"` // what a rollback keeps out of the environments that follow
	PullRequest int               `json:"pullRequest,omitempty"`
	With        []string          `json:"with,omitempty"`      // the versions of a requested promotion
	Bypass      []string          `json:"bypass,omitempty"`    // what that is to bypass
	Snapshot    string            `json:"snapshot,omitempty"`  // name of the posted one that is requested
	Gone        bool              `json:"gone,omitempty"`      // the repository has no target of this name now
	Elsewhere   []elsewhereJSON   `json:"elsewhere,omitempty"` // what it stops now under other names
	Fix         string            `json:"fix,omitempty"`       // how to end it, or to move it to another name
}

// elsewhereJSON is a target that a decision stops under another name.
type elsewhereJSON struct {
	Environment string `json:"environment"`
	Application string `json:"application"`
}

// renamed returns the decision with what it stops under other names.
func (d inEffectJSON) renamed(s state.State) inEffectJSON {
	of := state.Target{Environment: d.Environment, Application: d.Application}
	is := func(stop state.Stop) bool {
		act := stop.Act.At.Equal(d.At) && stop.Act.By.Login == d.By.Login
		rejects := stop.Rejection.Number == d.PullRequest && maps.Equal(stop.Rejection.Images, d.Images)
		return stop.Of == of && string(stop.Kind) == string(d.Verb) && act && rejects
	}
	for _, stop := range s.Stops(time.Time{}) {
		if !is(stop) {
			continue
		}
		for _, target := range s.Elsewhere(stop) {
			d.Elsewhere = append(d.Elsewhere, elsewhereJSON(target))
		}
		if d.Gone = slices.ContainsFunc(s.Gone(), is); d.Gone {
			d.Fix = promotion.GoneDecision{Stop: stop}.Fix()
		}
		break
	}
	return d
}

// decisionsInEffect returns the decisions about selected targets, and those that stop them under another name.
func decisionsInEffect(results []app.Result, now time.Time, selected func(state.Target) bool) decisionsJSON {
	out := decisionsJSON{Schema: decisionsSchema, Decisions: []inEffectJSON{}}
	for _, result := range results {
		for _, decisions := range result.Report.UserDecisions {
			for _, target := range decisions.Targets() {
				for _, one := range inEffect(decisions.At(target), now) {
					one.Repository = result.Repository
					one.Environment = target.Environment
					one.Application = target.Application
					one = one.renamed(decisions)
					stops := func(other elsewhereJSON) bool { return selected(state.Target(other)) }
					if selected(target) || slices.ContainsFunc(one.Elsewhere, stops) {
						out.Decisions = append(out.Decisions, one)
					}
				}
			}
		}
	}
	return out
}

// inEffect returns the decisions of a record.
func inEffect(record state.Record, now time.Time) (all []inEffectJSON) {
	add := func(what verb.Verb, act state.Act, more inEffectJSON) {
		more.Verb = what
		more.By = api.User{Host: act.By.Host, Login: act.By.Login}
		more.At = act.At
		more.Reason = act.Reason
		all = append(all, more)
	}
	if freeze := record.Freeze; freeze != nil && (freeze.Until == nil || freeze.Until.After(now)) {
		add(verb.Freeze, freeze.Act, inEffectJSON{Until: freeze.Until})
	}
	if rollback := record.Rollback; rollback != nil {
		add(verb.Rollback, rollback.Act, inEffectJSON{Images: rollback.Images, From: rollback.From, Bypass: rollback.Bypass})
	}
	if record.Hold != nil && (record.Rollback == nil || !record.Hold.At.Equal(record.Rollback.At)) {
		add(verb.Hold, *record.Hold, inEffectJSON{})
	}
	if request := record.Request; request != nil {
		add(verb.Promote, request.Act, inEffectJSON{With: request.With, Bypass: request.Bypass, Snapshot: request.Posted})
	}
	for _, rejection := range record.Rejections {
		add(verb.Reject, rejection.Act, inEffectJSON{Images: rejection.Images, PullRequest: rejection.Number})
	}
	return all
}

// decisionsText has a paragraph for each repository, with one line for each decision, in
// columns. Times are UTC.
func decisionsText(found decisionsJSON) string {
	targetWidth, verbWidth := 0, 0
	for _, one := range found.Decisions {
		targetWidth = max(targetWidth, len(render.Visible(one.target())))
		verbWidth = max(verbWidth, len(one.Verb))
	}
	var b strings.Builder
	repository := ""
	for _, one := range found.Decisions {
		if one.Repository != repository {
			repository = one.Repository
			fmt.Fprintln(&b, render.Visible(repository))
		}
		fmt.Fprintf(&b, "  %-*s  %-*s  %s\n",
			targetWidth, render.Visible(one.target()), verbWidth, one.Verb, render.Visible(one.details()))
	}
	return b.String()
}

func (d inEffectJSON) target() string {
	return render.Scope(promotion.Target{Environment: d.Environment, Application: d.Application})
}

// details returns the versions, the user, the times, and the reason.
func (d inEffectJSON) details() string {
	var images []string
	for component, text := range render.SortedPairs(d.Images) {
		if parsed, err := image.Parse(text); err == nil {
			text = promotion.Label(parsed.Version())
		}
		images = append(images, component+" "+text)
	}
	for _, text := range d.With {
		if parsed, err := image.Parse(text); err == nil {
			text = parsed.Repository.Familiar() + " " + promotion.Label(parsed.Version())
		}
		images = append(images, text)
	}
	text := strings.Join(images, ", ")
	if len(d.Bypass) > 0 {
		text += " bypassing " + strings.Join(d.Bypass, ", ")
	}
	if d.PullRequest != 0 {
		text += fmt.Sprintf(" #%d", d.PullRequest)
	}
	text += " by " + cmp.Or(d.By.Login, "an unknown user") + " since " + d.At.UTC().Format(time.DateTime+"Z")
	if d.Until != nil {
		text += " until " + d.Until.UTC().Format(time.DateTime+"Z")
	}
	if d.Reason != "" {
		text += " (" + d.Reason + ")"
	}
	if d.Gone {
		text += "; its target is gone"
	}
	var names []string
	for _, one := range d.Elsewhere {
		names = append(names, promotion.Target(one).Name())
	}
	switch {
	case len(names) > 0:
		text += "; stops " + fault.List(names)
	case d.Gone:
		text += "; stops nothing now"
	}
	if d.Fix != "" {
		text += "; " + d.Fix
	}
	return strings.TrimSpace(text)
}
