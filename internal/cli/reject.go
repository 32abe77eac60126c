package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"
)

// newReject takes the images to reject as arguments.
func newReject(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Reject, wordsReject())
	flags.addApplication(command)
	command.Use = "reject IMAGE..."
	command.Args = cobra.ArbitraryArgs
	carry := command.RunE
	command.RunE = func(command *cobra.Command, images []string) error {
		flags.decision.Images = images
		return carry(command, nil)
	}
	return command
}
