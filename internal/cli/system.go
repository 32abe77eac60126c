package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"promoter/internal/fault"
)

// Exit codes, as the help of each command documents them. An error takes precedence over
// changes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitChanges = 2 // only with --exit-code
	exitSignal  = 130
)

// System is what the command line uses of the machine. Tests pass their own.
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

// exit ends a command with an exit code and without a message: it was printed before.
type exit int

func (e exit) Error() string { return "" }

// noArguments refuses arguments of a verb that has only flags.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%[1]s takes no arguments, got %[2]q: '%[1]s --help' lists its flags", command.CommandPath(), args[0])
}
