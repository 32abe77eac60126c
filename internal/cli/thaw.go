package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/app"
)

func newThaw(system System) *cobra.Command {
	command, _ := newOrder(system, app.VerbThaw, wordsThaw())
	return command
}
