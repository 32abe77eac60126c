package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/verb"
)

func newThaw(system System) *cobra.Command {
	command, _ := newOrder(system, verb.Thaw, wordsThaw())
	return command
}
