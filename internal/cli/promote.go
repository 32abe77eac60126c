package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newPromote(system System) *cobra.Command {
	command, flags := newOrder(system, app.VerbPromote, wordsPromote())
	flags.addApplication(command)
	command.Flags().StringVar(&flags.order.Environment, "to", "", flagTo)
	command.Flags().StringArrayVar(&flags.order.With, "with", nil, flagOrderWith)
	command.MarkFlagsMutuallyExclusive("to", "env")
	return command
}
