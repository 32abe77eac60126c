package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newRollback(system System) *cobra.Command {
	command, flags := newOrder(system, app.VerbRollback, wordsRollback())
	flags.addApplication(command)
	command.Flags().Lookup("env").Usage = flagOneEnv
	return command
}
