package cli

import (
	"fmt"
	"io"

	"promoter/internal/checkout"

	"github.com/spf13/cobra"
)

// renderer prints a preview.
type renderer interface {
	render(w io.Writer, preview *checkout.Preview) error
}

func newPlan(system System) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:     "plan",
		Short:   wordPlanShort,
		Long:    wordPlanLong,
		Example: wordPlanExample,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runPlan(command, &flags, system)
		},
	}
	flags.add(command)
	return command
}

func runPlan(command *cobra.Command, flags *planFlags, system System) error {
	renderer, err := flags.render(system)
	if err != nil {
		return err
	}
	_, preview, err := flags.preview(command, system)
	if err != nil {
		return err
	}
	if err := renderer.render(system.Out, preview); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	sayTroubles(system.Err, preview)
	sayPlanned(system.Err, preview)
	return exitOf(preview, flags.exitCode)
}

// exitOf turns what was found into the exit code: trouble beats changes.
func exitOf(preview *checkout.Preview, exitCode bool) error {
	switch {
	case preview.Failed():
		return exit(exitFailed)
	case exitCode && preview.Changed():
		return exit(exitChanges)
	default:
		return nil
	}
}
