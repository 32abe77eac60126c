package local

import (
	"fmt"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
)

// NewApply returns the command apply.
func NewApply(system console.System) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:   "apply",
		Short: "Write the changes that plan shows to the files of a checkout",
		Long: `apply makes the changes that plan shows. It writes files and commits nothing. If one file of an
application cannot be changed, apply writes nothing for that application, writes the others, and
exits with 1. Files on branches that are not checked out are not changed.

apply does not write to an environment with propose: manual, to a target with conditions that
cannot be evaluated in a checkout, such as a soak, or to a target that a user put on hold, froze,
or rejected the versions of, according to origin/promoter/_state. To write all the same, name the
environment with --env.

Exit codes: 0 success; 1 a config error, a refused file, or a registry that did not respond;
2 there were changes, only with --exit-code.`,
		Example: `  promoter apply
  promoter apply --with quay.io/acme/web:1.5.0@sha256:… --path 'apps/web/**'
  crane-list | promoter apply --with -`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runApply(command, &flags, system)
		},
	}
	flags.add(command)
	return command
}

func runApply(command *cobra.Command, flags *planFlags, system console.System) error {
	renderer, err := flags.render(system)
	if err != nil {
		return err
	}
	opened, preview, err := flags.preview(command, system)
	if err != nil {
		if command.Context().Err() != nil {
			render.PrintMessage(system.Err, "nothing written")
		}
		return err
	}
	applied, err := opened.Apply(command.Context(), preview)
	if err != nil {
		for _, file := range applied.Files {
			render.PrintMessage(system.Err, "wrote %s", file)
		}
		render.PrintApplySummary(system.Err, preview, applied)
		return err
	}
	err = renderer(system.Out, preview)
	render.PrintPreviewErrors(system.Err, preview, flags.output)
	render.PrintCheckoutWarnings(system.Err, preview)
	render.PrintApplySummary(system.Err, preview, applied) // also if the output is closed
	if err != nil {
		return fmt.Errorf("print what was written: %w", err)
	}
	return exitOf(preview, flags.exitCode)
}
