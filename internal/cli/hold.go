package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newHold(system System) *cobra.Command {
	command, flags := newOrder(system, app.VerbHold, wordsHold())
	flags.addApplication(command)
	return command
}
