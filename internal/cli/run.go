package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newRun(system System) *cobra.Command {
	var flags targetFlags
	var color string
	var dryRun bool
	command := &cobra.Command{
		Use:     "run",
		Short:   wordRunShort,
		Long:    wordRunLong,
		Example: wordRunExample,
		Args:    noArguments,
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
	options.DryRun = dryRun
	results, failed := app.Run(command.Context(), server, options)
	progress.clear()
	if results == nil {
		return failed
	}
	text := reportRenderer{paint: paint, dryRun: dryRun}
	if err := printAs(system.Out, flags.output, runToJSON(results, nil), func() string { return text.results(results) }); err != nil {
		return fmt.Errorf("print what was done: %w", err)
	}
	sayFailures(system.Err, results)
	sayRun(system.Err, results, dryRun)
	if failed != nil {
		return failed
	}
	return exitOfRun(results)
}

// exitOfRun is 1 when any part of any repository failed.
func exitOfRun(results []app.Result) error {
	for i := range results {
		if results[i].Failed() {
			return exit(exitFailed)
		}
	}
	return nil
}
