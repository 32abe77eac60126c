package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"

	"promoter/internal/fault"
)

func newPromote(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Promote, wordsPromote())
	flags.addApplication(command)
	command.Flags().Lookup("env").Usage = flagOneEnv
	command.Flags().StringVar(&flags.decision.Environment, "to", "", flagTo)
	command.Flags().StringArrayVar(&flags.decision.With, "with", nil, flagOrderWith)
	command.PreRunE = func(*cobra.Command, []string) error {
		if set := command.Flags(); set.Changed("to") && set.Changed("env") {
			return fault.New(fault.Invalid, wordToAndEnv)
		}
		return nil
	}
	return command
}
