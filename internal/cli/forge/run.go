// Package forge has the commands that work on repositories of forges: run, simulate,
// explain, doctor, and app create.
package forge

import (
	"fmt"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/outbound"
)

// NewRun returns the command run.
func NewRun(system console.System) *cobra.Command {
	var flags flag.Targets
	var color string
	var dryRun bool
	command := &cobra.Command{
		Use:   "run",
		Short: "Reconcile all repositories once and exit",
		Long: `run reconciles every repository of the server file: it reads the files, queries the registries,
opens, refreshes, merges, or closes pull requests, pushes where the config permits it, and exits
when nothing more lands. Use it as a scheduled job. It needs no database: it reads everything from
Git, the registries, and the forges, so the next run completes an interrupted one. It sends
notifications about what it does itself.

Without a server file, --repo takes the URL of a repository. Credentials come from
PROMOTER_GITHUB_TOKEN, PROMOTER_GITLAB_TOKEN, PROMOTER_GITEA_TOKEN with PROMOTER_GITEA_URL,
PROMOTER_GIT_USERNAME and PROMOTER_GIT_PASSWORD, or PROMOTER_GIT_SSH_KEY and
PROMOTER_GIT_KNOWN_HOSTS. PROMOTER_COMMITTER, "NAME <EMAIL>", sets the author of commits, and
PROMOTER_SIGNING_KEY, with PROMOTER_SIGNING_PASSPHRASE, the GPG or SSH key that signs them.

Exit codes: 0 success; 1 a repository failed (the others are completed); 3 interrupted, and work
did not end in time; 130 interrupted.`,
		Example: `  promoter run --config promoter-server.yaml --cache /var/cache/promoter
  promoter run --repo acme/gitops --dry-run
  promoter run --repo https://github.com/acme/gitops`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runRun(command, &flags, color, dryRun, system)
		},
	}
	flags.Add(command)
	command.Flags().BoolVar(&dryRun, "dry-run", false, flag.DryRunUsage)
	command.Flags().StringVar(&color, "color", "auto", flag.ColorUsage)
	return command
}

func runRun(command *cobra.Command, flags *flag.Targets, color string, dryRun bool, system console.System) error {
	paint, err := console.NewPainter(color, system)
	if err != nil {
		return err
	}
	server, err := flags.Open(system)
	if err != nil {
		return err
	}
	progress := console.NewProgress(system)
	options := flags.Options(system, progress)
	printer := render.NewRun(system.Out, system.Err, flags.Output, render.Report{Paint: paint, DryRun: dryRun}, progress.Around)
	options.DryRun = dryRun
	options.Defer = outbound.Sleep
	options.Acted, options.Offered = printer.Acted, printer.Offered
	results, failed := app.Run(command.Context(), server, options)
	progress.Clear()
	if results == nil {
		return failed
	}
	if err := printer.Results(results); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	render.PrintFailures(system.Err, results, flags.Output)
	render.PrintGone(system.Err, results)
	render.PrintRunSummary(system.Err, results, dryRun)
	if command.Context().Err() != nil {
		render.PrintMessage(system.Err, "run it again: it continues where it stopped")
	}
	if failed != nil {
		return failed
	}
	return console.ExitOf(results)
}
