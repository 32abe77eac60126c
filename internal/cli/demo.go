package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Demo shows promoter at work on embedded parts. It is in a package of the same layer, so
// the program passes it in.
type Demo func(ctx context.Context, request DemoRequest) error

// DemoRequest is what the demo needs from the command line.
type DemoRequest struct {
	Out io.Writer
	// Promoter runs one command line with its output on out, and returns the exit
	// code: the demo shows the real commands.
	Promoter func(ctx context.Context, out io.Writer, args ...string) int
	Title    func(string) string // how the title of a step is printed
	Program  string              // its path, for the commands that a user is shown
	Verbose  bool                // all output, rather than the lines that matter
	Once     bool                // end after the last step, rather than run on until interrupted
	Keep     bool                // keep the folder
	Now      func() time.Time
	// Forge is where pull requests are; nil: everything is pushed.
	Forge *DemoForge
}

// DemoForge is a GitHub Enterprise server, or an emulator, and two accounts on it.
type DemoForge struct {
	URL            string
	Promoter, User secret.String
	Variable       string // that holds the first of the tokens
}

// The variables that hold the tokens of a demo with a forge. A run without a server file
// reads the first one too.
const (
	demoTokenVariable = "PROMOTER_GITHUB_TOKEN"
	demoUserVariable  = "PROMOTER_DEMO_USER_TOKEN"
)

func newDemo(system console.System, demo Demo) *cobra.Command {
	var keep, once, verbose bool
	var kind, address string
	command := &cobra.Command{
		Use:   "demo",
		Short: "Run promoter against an embedded registry and Git repository",
		Long: `demo starts a registry and a Git server on loopback and creates a repository with dev, staging,
and prod in a temporary folder. It pushes new images and promotes them with the real commands: at
once, on request, after a soak time, and in a window. A user reverts a bad image. Then demo starts
the service: webhooks trigger the next promotions, and prod gets what is reported healthy in
staging, where a bad release is rolled back. It shows the lines that matter, and checks
each step; if one fails, it names the step and exits with 1. It changes nothing else and needs no
network.

Everything keeps running until Ctrl-C, and demo prints commands to try. With --once, it exits
after the last step.

With --forge github, demo uses pull requests on a GitHub Enterprise server on this machine, or an
emulator of one: a user merges staging, promoter merges prod, and a closed pull request rejects
its versions. It needs two tokens, PROMOTER_GITHUB_TOKEN and, for the user,
PROMOTER_DEMO_USER_TOKEN. It creates two repositories and removes them.

Exit codes: 0 success; 1 a step failed.`,
		Example: `  promoter demo
  promoter demo --once`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			forge, err := demoForge(kind, address, system.Env)
			if err != nil {
				return err
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			paint, err := console.NewPainter("auto", system)
			if err != nil {
				return err
			}
			title := func(text string) string { return paint.Paint(render.ColorBold, text) }
			return demo(command.Context(), DemoRequest{
				Out: system.Out, Promoter: runVerbs(system), Title: title, Program: program,
				Verbose: verbose, Once: once, Keep: keep, Now: time.Now, Forge: forge,
			})
		},
	}
	command.Flags().StringVar(&kind, "forge", "git", "`KIND` of forge: git, or github to use pull requests")
	command.Flags().StringVar(&address, "forge-url", "", "`URL` of a GitHub Enterprise server on this machine: http://127.0.0.1:PORT")
	command.Flags().BoolVar(&keep, "keep", false, "keep the folder at the end")
	command.Flags().BoolVar(&verbose, "verbose", false, "show the whole output of the commands, and the log of the service")
	command.Flags().BoolVar(&once, "once", false, "exit after the last step")
	return command
}

// demoForge returns the selected forge; nil for plain Git.
func demoForge(kind, address string, env func(string) (string, bool)) (*DemoForge, error) {
	switch {
	case kind == "git" && address == "":
		return nil, nil
	case kind == "git":
		return nil, fault.New(fault.Invalid, "--forge-url is for --forge github")
	case kind != "github":
		return nil, fault.New(fault.Invalid, "--forge %s: want git or github", kind)
	case address == "":
		return nil, fault.New(fault.Invalid, "--forge github: name a GitHub Enterprise server on this machine with --forge-url, "+
			"as in http://127.0.0.1:4000; 'make demo-github' starts one")
	}
	token, _ := env(demoTokenVariable)
	userToken, _ := env(demoUserVariable)
	if token == "" || userToken == "" {
		return nil, fault.New(fault.Invalid, "--forge github: set %s to a token of promoter's account there, and %s to one of the user's",
			demoTokenVariable, demoUserVariable)
	}
	return &DemoForge{URL: address, Promoter: secret.New(token), User: secret.New(userToken), Variable: demoTokenVariable}, nil
}

// runVerbs runs command lines inside the demo: with its output, without input.
func runVerbs(system console.System) func(context.Context, io.Writer, ...string) int {
	return func(ctx context.Context, out io.Writer, args ...string) int {
		inner := system
		inner.In = strings.NewReader("")
		inner.Out, inner.Err = out, out
		inner.ErrTerminal = false
		return Main(ctx, args, inner, nil)
	}
}
