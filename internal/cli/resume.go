package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"
)

func newResume(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Resume, wordsResume())
	flags.addApplication(command)
	return command
}
