package console

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/cli/render"
)

// Exit codes, as the help of each command documents them. An error takes precedence over
// changes.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitChanges = 2 // only with --exit-code
	ExitSignal  = 130
)

// ExitError ends a command with an exit code and without a message: it was printed before.
type ExitError int

// Error makes it an error that commands return.
func (e ExitError) Error() string { return "" }

// ExitOf returns the exit code of a command that worked on repositories: 1 if any part of
// one failed.
func ExitOf(results []app.Result) error {
	if slices.ContainsFunc(results, app.Result.Failed) {
		return ExitError(ExitFailed)
	}
	return nil
}

// Run runs a command line of a command, prints its error, and returns the exit code.
func Run(ctx context.Context, command *cobra.Command, args []string, system System) int {
	command.SetArgs(args)
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetIn(system.In)
	command.SetOut(system.Out)
	command.SetErr(system.Err)
	err := command.ExecuteContext(ctx)
	var code ExitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		render.PrintMessage(system.Err, "interrupted")
		return ExitSignal
	default:
		render.PrintError(system.Err, err)
		return ExitFailed
	}
}
