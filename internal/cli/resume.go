package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newResume(system System) *cobra.Command {
	command, flags := newOrder(system, app.VerbResume, wordsResume())
	flags.addApplication(command)
	return command
}
