package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/fault"
)

func newPromote(system System) *cobra.Command {
	command, flags := newOrder(system, app.VerbPromote, wordsPromote())
	flags.addApplication(command)
	command.Flags().Lookup("env").Usage = flagOneEnv
	command.Flags().StringVar(&flags.order.Environment, "to", "", flagTo)
	command.Flags().StringArrayVar(&flags.order.With, "with", nil, flagOrderWith)
	command.PreRunE = func(*cobra.Command, []string) error {
		if set := command.Flags(); set.Changed("to") && set.Changed("env") {
			return fault.New(fault.Invalid, wordToAndEnv)
		}
		return nil
	}
	return command
}
