package forge

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/repo"
)

// explainFlags are the flags of explain: those of a repository, or those of a
// checkout.
type explainFlags struct {
	targets     flag.Targets
	dir         string
	application string
	with        string
	color       string
}

// NewExplain returns the command explain.
func NewExplain(system console.System) *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:   "explain ENVIRONMENT",
		Short: "Show why a version is not in an environment, with every condition and gate",
		Long: `explain shows, for each application of an environment, the path of its versions: what the registry
has and what is selected, and for each environment on it which version is there, since when,
by which commit or pull request, and what blocks the next one, with what you can do. Below are the
wanted snapshot, and every condition and gate with its state, current value, and time. It changes
nothing.

With --with, it answers where one version is, and why it is not in the environment.

It reads repositories as run does: those of --repo, or of the server file. With --dir, or without
a server file, it reads a checkout as plan does; conditions that need a forge are not evaluated.

Exit codes: 0 success; 1 an error.`,
		Example: `  promoter explain prod
  promoter explain prod --with web:1.4.2
  promoter explain prod --app shop --repo acme/gitops`,
		Args:              oneEnvironment,
		ValidArgsFunction: flag.CompleteEnvironment,
		RunE: func(command *cobra.Command, args []string) error {
			return runExplain(command, &flags, args[0], system)
		},
	}
	flags.targets.Add(command)
	command.Flags().StringVar(&flags.dir, "dir", ".", flag.DirUsage)
	command.Flags().StringVar(&flags.application, "app", "", flag.AppUsage)
	command.Flags().StringVar(&flags.with, "with", "", "`VERSION` to answer about, COMPONENT or REPOSITORY with :TAG, @DIGEST, or both")
	command.Flags().StringVar(&flags.color, "color", "auto", flag.ColorUsage)
	return command
}

func oneEnvironment(command *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fault.New(fault.Invalid, "%s needs the name of one environment: '%[1]s prod'", command.CommandPath())
}

func runExplain(command *cobra.Command, flags *explainFlags, environment string, system console.System) error {
	paint, err := console.NewPainter(flags.color, system)
	if err != nil {
		return err
	}
	wanted := func(target promotion.Target) bool {
		return target.Environment == environment && (flags.application == "" || target.Application == flags.application)
	}
	results, err := flags.observe(command, environment, system)
	if err != nil {
		return err
	}
	if err := checkNames(results, environment, flags.application, wanted); err != nil {
		return err
	}
	text := render.Report{Paint: paint, DryRun: true, Details: true, Wanted: wanted}
	data := render.ReportJSON(results, wanted)
	if err := render.PrintAs(system.Out, flags.targets.Output, data, func() string { return text.Results(results) }); err != nil {
		return fmt.Errorf("print the explanation: %w", err)
	}
	render.PrintFailures(system.Err, results, flags.targets.Output)
	render.PrintGone(system.Err, results)
	return console.ExitOf(results)
}

// observe reads the repositories that run would reconcile, or else the checkout.
func (f *explainFlags) observe(command *cobra.Command, environment string, system console.System) ([]app.Result, error) {
	progress := console.NewProgress(system)
	defer progress.Clear()
	inCheckout := command.Flags().Changed("dir")
	if inCheckout && (f.targets.Config != "" || len(f.targets.Repositories) > 0) {
		return nil, fault.New(fault.Invalid, "--dir selects a checkout, --repo and --config repositories on a forge: use one of them")
	}
	if !inCheckout && f.targets.Named(system) {
		server, err := f.targets.Open(system)
		if err != nil {
			return nil, err
		}
		question := reconcile.Question{Environment: environment, Application: f.application, With: f.with}
		return app.Explain(command.Context(), server, f.targets.Options(system, progress), question)
	}
	if f.with != "" {
		return nil, fault.New(fault.Invalid,
			"--with needs the history of a repository, which a checkout may not have: name it with --repo or --config")
	}
	if err := render.CheckOutput(f.targets.Output); err != nil {
		return nil, err
	}
	opened, err := checkout.Open(f.dir, nil)
	if err != nil {
		return nil, err
	}
	registries, err := connect.NewLocalRegistries(connect.RegistryOptions{
		CacheDir: f.targets.Cache, Networks: f.targets.Networks, Env: system.Env, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	preview, err := opened.Plan(command.Context(), checkout.Options{
		Environments: []string{environment}, ShowOnly: true, Versions: registries.For(""), Now: time.Now, Progress: progress.Show,
	})
	if closing := registries.Close(); closing != nil {
		render.PrintMessage(system.Err, "%v", closing) // only the cache is affected
	}
	if err != nil {
		return nil, err
	}
	result := app.Result{Repository: f.dir}
	if absolute, err := filepath.Abs(f.dir); err == nil {
		result.Repository = absolute
	}
	for i := range preview.Targets {
		result.Report.Decisions = append(result.Report.Decisions, preview.Targets[i].Decision)
	}
	result.Report.Paths, result.Report.Drift = preview.Paths, preview.Drift
	for _, e := range preview.Errors {
		result.Report.Errors = append(result.Report.Errors, repo.PartialError{What: "component " + e.Component, Err: e.Err})
	}
	return []app.Result{result}, nil
}
