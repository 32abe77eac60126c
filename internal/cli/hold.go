package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"
)

func newHold(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Hold, wordsHold())
	flags.addApplication(command)
	return command
}
