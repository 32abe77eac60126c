package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Demo shows promoter at work on embedded parts. It lies beside this package,
// not below it, so the program hands it in.
type Demo func(ctx context.Context, request DemoRequest) error

// DemoRequest is what the demo needs of the command line.
type DemoRequest struct {
	Out io.Writer
	// Promoter runs one command line with its output on out, and returns the exit
	// code: the demo shows the real verbs.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
	Once     bool // end after the last step, rather than run on until interrupted
	Keep     bool // leave the folder there to look at
	Now      func() time.Time
}

func newDemo(system System) *cobra.Command {
	var keep, once bool
	command := &cobra.Command{
		Use:   "demo",
		Short: wordDemoShort,
		Long:  wordDemoLong,
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return system.Demo(command.Context(), DemoRequest{
				Out: system.Out, Promoter: verbs(system), Once: once, Keep: keep, Now: time.Now,
			})
		},
	}
	command.Flags().BoolVar(&keep, "keep", false, flagKeep)
	command.Flags().BoolVar(&once, "once", false, flagOnce)
	return command
}

// verbs runs command lines inside the demo: with its output, without input.
func verbs(system System) func(context.Context, io.Writer, ...string) int {
	return func(ctx context.Context, out io.Writer, args ...string) int {
		inner := system
		inner.In, inner.Out, inner.Err, inner.ErrTerminal = strings.NewReader(""), out, out, false
		return Main(ctx, args, inner)
	}
}
