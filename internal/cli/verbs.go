package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/fault"
)

// ofVerbs makes a command that has verbs and does nothing by itself: without one it
// shows which there are, and a wrong one is an error. The library would show the help
// of a command with a parent instead, and end as if all were well.
func ofVerbs(command *cobra.Command) *cobra.Command {
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if command.SuggestionsMinimumDistance <= 0 {
			command.SuggestionsMinimumDistance = 2
		}
		if meant := command.SuggestionsFor(args[0]); len(meant) > 0 {
			slices.Sort(meant)
			return fault.New(fault.Invalid, wordVerbMeant, args[0], command.CommandPath(), strings.Join(meant, " or "))
		}
		return fault.New(fault.Invalid, wordNoVerb, args[0], command.CommandPath())
	}
	command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
	command.DisableFlagsInUseLine = true
	return command
}
