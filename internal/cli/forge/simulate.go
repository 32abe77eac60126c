package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/schedule"
	"promoter/internal/simulate"
)

// assumeMerged is the value of --assume with which users merge all pull requests.
const assumeMerged = "merged"

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	targets                  flag.Targets
	at                       string
	environment, application string
	with                     []string
	assume                   string
	health                   []string
	color                    string
}

// NewSimulate returns the command simulate.
func NewSimulate(system console.System) *cobra.Command {
	var flags simulateFlags
	command := &cobra.Command{
		Use:   "simulate",
		Short: "Show what would happen until a time, and write nothing",
		Long: `simulate copies the branches, pull requests, and decisions of a repository into memory, and runs
the same reconciliation on the copy as 'promoter run'. Then it moves the clock of the copy to the
next time at which something changes by itself (the end of a soak, of settle, of minAge, of a
freeze, or of the timeout of health, or the start of a window) and reconciles again, until --at.
It shows what would happen, with the times in the local time zone, and what then waits for users.
It writes nothing.

It knows what exists now: versions, reviews, and checks that come later are not in it. Checks and
approvals of new pull requests, and merges by users, wait; with '--assume merged', users merge
each pull request as soon as its windows and holds allow. --with adds a version, as if the
registry had it and select selected it.

--health sets what is reported about an environment with health, instead of what its source
reports: about the versions that it has now, and about those that land later. Nothing is assumed
about versions to which onFailure: rollback returns it. So you see what goes on when staging is
healthy, and what happens when prod is not.

--at is a weekday, a date, or neither, with or without a time of day (the next one, in the local
time zone), a time of RFC 3339, or a duration from now.

It reads repositories as run does: those of --repo, or of the server file.

Exit codes: 0 success; 1 an error, or a repository failed.`,
		Example: `  promoter simulate --at 'Sat 15:00'
  promoter simulate --at 2027-01-04 --env prod --app shop --assume merged
  promoter simulate --at 'Sat 15:00' --health staging=Healthy
  promoter simulate --at +36h --with web:1.5.0@sha256:… --repo acme/gitops`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runSimulate(command, &flags, system)
		},
	}
	flags.targets.Add(command)
	set := command.Flags()
	set.StringVar(&flags.at, "at", "", "`TIME` at which to stop, as in 'Sat 15:00', 2026-12-24, '2026-12-24 18:00', or +36h (required)")
	set.StringArrayVar(&flags.with, "with", nil,
		"`VERSION` that the registry has, COMPONENT or REPOSITORY with :TAG, @DIGEST, or both (repeatable)")
	set.StringArrayVar(&flags.health, "health", nil,
		"`ENV=STATUS` that is reported, as in staging=Healthy, prod/shop=Degraded (repeatable)")
	set.StringVar(&flags.environment, "env", "", flag.EnvUsage)
	set.StringVar(&flags.application, "app", "", flag.AppUsage)
	set.StringVar(&flags.assume, "assume", "", "`WHAT` users do: merged, they merge each pull request")
	set.StringVar(&flags.color, "color", "auto", flag.ColorUsage)
	return command
}

func runSimulate(command *cobra.Command, flags *simulateFlags, system console.System) error {
	paint, err := console.NewPainter(flags.color, system)
	if err != nil {
		return err
	}
	if flags.assume != "" && flags.assume != assumeMerged {
		return fault.New(fault.Invalid, "--assume %s: want %s", flags.assume, assumeMerged)
	}
	options := simulate.Options{With: flags.with, Merged: flags.assume == assumeMerged}
	if options.Health, err = parseHealth(flags.health); err != nil {
		return err
	}
	if flags.at == "" {
		return fault.New(fault.Invalid, "%s needs the time at which to stop: --at 'Sat 15:00'", command.CommandPath())
	}
	if options.Until, err = schedule.ParseMoment(flags.at, time.Now()); err != nil {
		return fault.New(fault.Invalid, "--at %w", err)
	}
	if !options.Until.After(time.Now()) {
		return fault.New(fault.Invalid, "--at %s: that is past", flags.at)
	}
	server, err := flags.targets.Open(system)
	if err != nil {
		return err
	}
	progress := console.NewProgress(system)
	results, err := app.Simulate(command.Context(), server, flags.targets.Options(system, progress), options)
	progress.Clear()
	if err != nil {
		return err
	}
	if err := checkUsed(results, flags.with); err != nil {
		return err
	}
	if err := checkMonitored(results, flags.health); err != nil {
		return err
	}
	wanted := func(target promotion.Target) bool {
		return (flags.environment == "" || target.Environment == flags.environment) &&
			(flags.application == "" || target.Application == flags.application)
	}
	if flags.environment != "" || flags.application != "" {
		if err := checkNames(results, flags.environment, flags.application, wanted); err != nil {
			return err
		}
	}
	text := render.Simulation{Paint: paint, Zone: time.Local, Wanted: wanted}
	data := render.SimulationJSON(results, wanted)
	if err := render.PrintAs(system.Out, flags.targets.Output, data, func() string { return text.Results(results) }); err != nil {
		return fmt.Errorf("print the simulation: %w", err)
	}
	render.PrintFailures(system.Err, results, flags.targets.Output)
	render.PrintGone(system.Err, results)
	return console.ExitOf(results)
}

// checkUsed refuses versions that no repository takes. One that cannot be read may.
func checkUsed(results []app.Result, with []string) error {
	if slices.ContainsFunc(results, isUnreadable) {
		return nil
	}
	for _, text := range with {
		used := func(result app.Result) bool {
			return result.Simulation != nil && !slices.Contains(result.Simulation.Unused, text)
		}
		if !slices.ContainsFunc(results, used) {
			name := text[:strings.IndexAny(text+":", ":@")]
			return fault.New(fault.Invalid, "--with %s: no environment without parents references %s", text, name)
		}
	}
	return nil
}

// cutHealth splits ENV=STATUS or ENV/APPLICATION=STATUS.
func cutHealth(text string) (target promotion.Target, status string) {
	name, status, _ := strings.Cut(text, "=")
	target.Environment, target.Application, _ = strings.Cut(name, "/")
	return target, status
}

// parseHealth parses the values of --health.
func parseHealth(texts []string) (map[promotion.Target]health.Status, error) {
	assumed := map[promotion.Target]health.Status{}
	for _, text := range texts {
		target, name := cutHealth(text)
		status, known := health.ParseStatus(name)
		if target.Environment == "" || !known {
			return nil, fault.New(fault.Invalid, "--health %s: want ENV=STATUS or ENV/APPLICATION=STATUS%s; STATUS is one of %s",
				text, meant(name, health.Statuses()), fault.List(health.Statuses()))
		}
		assumed[target] = status
	}
	return assumed, nil
}

// checkMonitored refuses values of --health that are about no target with health.
func checkMonitored(results []app.Result, texts []string) error {
	if slices.ContainsFunc(results, isUnreadable) {
		return nil
	}
	var environments, targets []string
	for i := range results {
		for _, d := range results[i].Report.Decisions {
			if results[i].Report.Config.Settings(d.Environment, d.Application).Health != nil {
				environments = render.AppendNew(environments, d.Environment)
				targets = render.AppendNew(targets, d.Environment+"/"+d.Application)
			}
		}
	}
	for _, text := range texts {
		target, _ := cutHealth(text)
		name, known := target.Environment, environments
		if target.Application != "" && slices.Contains(environments, target.Environment) {
			name, known = target.Environment+"/"+target.Application, targets
		}
		switch {
		case len(environments) == 0:
			return fault.New(fault.Invalid, "--health %s: no environment has health in the config", text)
		case !slices.Contains(known, name):
			return fault.New(fault.Invalid, "--health %s: %s has no health in the config%s; these have: %s",
				text, name, meant(name, known), fault.List(known))
		}
	}
	return nil
}
