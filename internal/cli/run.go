package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/render"
)

func newRun(system System) *cobra.Command {
	var flags targetFlags
	var color string
	var dryRun bool
	command := &cobra.Command{
		Use:   "run",
		Short: "Reconcile all repositories once and exit",
		Long: `run reconciles every repository of the server file: it reads the files, queries the registries,
opens, refreshes, merges, or closes pull requests, pushes where the config permits it, and exits
when nothing more lands. Use it as a scheduled job. It needs no database: it reads everything from
Git, the registries, and the forges, so the next run completes an interrupted one.

Without a server file, --repo takes the URL of a repository. Credentials come from
PROMOTER_GITHUB_TOKEN, PROMOTER_GITLAB_TOKEN, PROMOTER_GITEA_TOKEN with PROMOTER_GITEA_URL,
PROMOTER_GIT_USERNAME and PROMOTER_GIT_PASSWORD, or PROMOTER_GIT_SSH_KEY and
PROMOTER_GIT_KNOWN_HOSTS. PROMOTER_COMMITTER, "NAME <EMAIL>", sets the author of commits, and
PROMOTER_SIGNING_KEY, with PROMOTER_SIGNING_PASSPHRASE, the GPG or SSH key that signs them.

Exit codes: 0 success; 1 a repository failed (the others are completed); 130 interrupted.`,
		Example: `  promoter run --config promoter-server.yaml --cache /var/cache/promoter
  promoter run --repo acme/gitops --dry-run
  promoter run --repo https://github.com/acme/gitops`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runRun(command, &flags, color, dryRun, system)
		},
	}
	flags.add(command)
	command.Flags().BoolVar(&dryRun, "dry-run", false, flagDryRun)
	command.Flags().StringVar(&color, "color", "auto", flagColor)
	return command
}

func runRun(command *cobra.Command, flags *targetFlags, color string, dryRun bool, system System) error {
	paint, err := newPainter(color, system)
	if err != nil {
		return err
	}
	server, err := flags.open(system)
	if err != nil {
		return err
	}
	progress := newProgress(system)
	options := flags.options(system, progress)
	printer := render.NewRun(system.Out, system.Err, flags.output, render.Report{Paint: paint, DryRun: dryRun}, progress.around)
	options.DryRun, options.Acted, options.Offered = dryRun, printer.Acted, printer.Offered
	results, failed := app.Run(command.Context(), server, options)
	progress.clear()
	if results == nil {
		return failed
	}
	if err := printer.Results(results); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	render.PrintFailures(system.Err, results, flags.output)
	render.PrintRunSummary(system.Err, results, dryRun)
	if command.Context().Err() != nil {
		render.PrintMessage(system.Err, "run it again: it continues where it stopped")
	}
	if failed != nil {
		return failed
	}
	return exitOfRun(results)
}

// exitOfRun returns the exit code: 1 if any part of a repository failed.
func exitOfRun(results []app.Result) error {
	for i := range results {
		if results[i].Failed() {
			return exit(exitFailed)
		}
	}
	return nil
}
