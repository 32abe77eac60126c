// Package cli is the command line: one verb per file, and every word to people
// in words.go. Data goes to standard output, words to standard error.
package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"promoter/internal/fault"
)

// Exit codes, as the help of each command documents them. An error beats
// changes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitChanges = 2 // only with --exit-code
	exitSignal  = 130
)

// System is what the command line touches of the machine, so that tests hand in
// their own.
type System struct {
	In          io.Reader
	Out, Err    io.Writer
	OutTerminal bool // standard output is a terminal
	ErrTerminal bool // standard error is a terminal
	Env         func(string) (string, bool)
	Demo        Demo
}

// OS is the machine that the process runs on.
func OS(demo Demo) System {
	return System{
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Env:         os.LookupEnv,
		Demo:        demo,
	}
}

// exit ends a command with a code without another word: what there was to say
// has been said.
type exit int

func (e exit) Error() string { return "" }

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, system System) int {
	root := newRoot(system)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		say(system.Err, wordInterrupted)
		return exitSignal
	default:
		sayError(system.Err, err)
		return exitFailed
	}
}

// noArguments refuses arguments of a verb: all is said by flags.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, wordNoArguments, command.CommandPath(), args[0])
}

func newRoot(system System) *cobra.Command {
	root := &cobra.Command{
		Use:           "promoter",
		Short:         wordRootShort,
		Long:          wordRootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(system.In)
	root.SetOut(system.Out)
	root.SetErr(system.Err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fault.New(fault.Invalid, wordWrongFlag, err, command.CommandPath())
	})
	root.AddCommand(
		newPlan(system),
		newApply(system),
		newRun(system),
		newServe(system),
		newStatus(system),
		newHistory(system),
		newReplay(system),
		newDoctor(system),
		newExplain(system),
		newPromote(system),
		newHold(system),
		newResume(system),
		newReject(system),
		newRollback(system),
		newFreeze(system),
		newThaw(system),
		newValidate(system),
		newInit(system),
		newApp(system),
		newDemo(system),
		newVersion(system),
	)
	root.InitDefaultCompletionCmd()
	for _, command := range append(root.Commands(), root) {
		if command.HasSubCommands() {
			ofVerbs(command)
		}
	}
	return root
}
