// Command promoter carries new image digests through the environments of a
// GitOps repository.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"promoter/internal/cli"
	"promoter/internal/cli/console"
	"promoter/internal/demo"
	"promoter/internal/memory"
)

// The garbage collection target of run and serve. Most of what a reconciliation allocates stays
// in use to its end, and a job on a shared node is sized by its peak memory. A run that needs less
// than garbageSize, in bytes, ends before there is anything to save. Short commands keep Go's default,
// which needs less CPU time.
const (
	garbagePercent = 40
	garbageSize    = 48 << 20
)

func main() {
	runs := len(os.Args) > 1 && os.Args[1] == "run"
	reconciles := runs || len(os.Args) > 1 && os.Args[1] == "serve"
	switch {
	case os.Getenv("GOGC") != "":
	case runs:
		memory.Pace(garbagePercent, garbageSize)
	case reconciles:
		debug.SetGCPercent(garbagePercent)
	}
	if reconciles {
		// Nine tenths of the memory of the container, unless GOMEMLIMIT is set. Outside of a
		// container there is no limit, and where it cannot be read neither.
		_, _ = memlimit.Set()
	}
	if runs {
		// A closed output must not end a run halfway. Its error is reported at the end.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], console.OS(), showDemo)
	stop()
	os.Exit(code)
}

// showDemo hands the command line to the demo, which lies beside it.
func showDemo(ctx context.Context, request cli.DemoRequest) error {
	options := demo.Options{
		Out: request.Out, Promoter: request.Promoter, Title: request.Title, Program: request.Program,
		Verbose: request.Verbose, Once: request.Once, Keep: request.Keep, Now: request.Now,
	}
	if forge := request.Forge; forge != nil {
		options.GitHub = &demo.GitHub{URL: forge.URL, Promoter: forge.Promoter, User: forge.User, Variable: forge.Variable}
	}
	return demo.Run(ctx, options)
}
