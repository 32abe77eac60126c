package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"
)

func newRollback(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Rollback, wordsRollback())
	flags.addApplication(command)
	command.Flags().Lookup("env").Usage = flagOneEnv
	return command
}
