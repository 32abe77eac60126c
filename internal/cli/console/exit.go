package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/activity"
	"promoter/internal/app"
	"promoter/internal/cli/render"
)

// Exit codes, as the help of each command documents them. An error takes precedence over
// changes.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitChanges = 2 // only with --exit-code
	ExitLate    = 3 // after a signal, work did not end within EndTimeout
	ExitSignal  = 130
)

// EndTimeout is how long a command may take to end after a signal. Then the process exits whatever still runs, within
// the 20 seconds that the documents promise. Nothing is lost: to be killed is safe at any point.
const EndTimeout = 19 * time.Second

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

// Run runs a command line of a command, prints its error, and returns the exit code. It returns EndTimeout after the end
// of the context at the latest, and names what still runs.
func Run(ctx context.Context, command *cobra.Command, args []string, system System) int {
	work := &activity.Work{}
	ended := make(chan int, 1)
	go func() { ended <- execute(activity.With(ctx, work), command, args, system) }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	late := time.NewTimer(EndTimeout)
	defer late.Stop()
	select {
	case code := <-ended:
		return code
	case <-late.C:
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		left := "the command"
		if names := work.Names(); len(names) > 0 {
			left = strings.Join(names, ", ")
		}
		render.PrintMessage(system.Err, fmt.Sprintf("the process exits %s after the signal without the end of %s; the next one continues",
			EndTimeout, left))
	}()
	select {
	case <-printed:
	case <-time.After(printTimeout):
	}
	return ExitLate
}

// printTimeout limits the time of the last message: the reader of standard error may be why the command does not end.
const printTimeout = 500 * time.Millisecond

func execute(ctx context.Context, command *cobra.Command, args []string, system System) int {
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
