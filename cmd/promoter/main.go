// Command promoter carries new image digests through the environments of a
// GitOps repository.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"promoter/internal/cli"
	"promoter/internal/demo"
)

// garbage is how much of it may lie around, in percent of what is in use. Most of
// what a pass holds is in use to its end, so that a heap of twice its size, the
// default, is room for nothing; a job on a shared node is measured by its peak.
const garbage = 40

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.OS(showDemo))
	stop()
	os.Exit(code)
}

// showDemo hands the command line to the demo, which lies beside it.
func showDemo(ctx context.Context, request cli.DemoRequest) error {
	options := demo.Options{
		Out: request.Out, Promoter: request.Promoter, Once: request.Once, Keep: request.Keep, Now: request.Now,
	}
	if forge := request.Forge; forge != nil {
		options.GitHub = &demo.GitHub{URL: forge.URL, Promoter: forge.Promoter, Person: forge.Person, Variable: forge.Variable}
	}
	return demo.Run(ctx, options)
}
