package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newApply(system System) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:     "apply",
		Short:   wordApplyShort,
		Long:    wordApplyLong,
		Example: wordApplyExample,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runApply(command, &flags, system)
		},
	}
	flags.add(command)
	return command
}

func runApply(command *cobra.Command, flags *planFlags, system System) error {
	renderer, err := flags.render(system)
	if err != nil {
		return err
	}
	opened, preview, err := flags.preview(command, system)
	if err != nil {
		return err
	}
	applied, err := opened.Apply(command.Context(), preview)
	if err != nil {
		sayApplied(system.Err, preview, applied)
		return err
	}
	err = renderer.render(system.Out, preview)
	sayTroubles(system.Err, preview)
	sayApplied(system.Err, preview, applied) // also when nobody reads the rest
	if err != nil {
		return fmt.Errorf("print what was written: %w", err)
	}
	return exitOf(preview, flags.exitCode)
}
