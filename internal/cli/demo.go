package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/fault"
	"promoter/internal/secret"
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
	// Forge is where pull requests are; nil: everything lands by push.
	Forge *DemoForge
}

// DemoForge is a GitHub Enterprise server, or an emulator, and two accounts on it.
type DemoForge struct {
	URL              string
	Promoter, Person secret.String
	Variable         string // that holds the first of the tokens
}

// The variables that hold the tokens of a demo with a forge. The first is also that
// of a run without a server's file.
const (
	demoTokenVariable  = "PROMOTER_GITHUB_TOKEN"
	demoPersonVariable = "PROMOTER_DEMO_PERSON_TOKEN"
)

func newDemo(system System) *cobra.Command {
	var keep, once bool
	var kind, address string
	command := &cobra.Command{
		Use:   "demo",
		Short: wordDemoShort,
		Long:  wordDemoLong,
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			forge, err := demoForge(kind, address, system.Env)
			if err != nil {
				return err
			}
			return system.Demo(command.Context(), DemoRequest{
				Out: system.Out, Promoter: verbs(system), Once: once, Keep: keep, Now: time.Now, Forge: forge,
			})
		},
	}
	command.Flags().StringVar(&kind, "forge", "git", flagForge)
	command.Flags().StringVar(&address, "forge-url", "", flagForgeURL)
	command.Flags().BoolVar(&keep, "keep", false, flagKeep)
	command.Flags().BoolVar(&once, "once", false, flagOnce)
	return command
}

// demoForge finds the forge that is meant; nil for plain Git.
func demoForge(kind, address string, env func(string) (string, bool)) (*DemoForge, error) {
	switch {
	case kind == "git" && address == "":
		return nil, nil
	case kind == "git":
		return nil, fault.New(fault.Invalid, "--forge-url is for --forge github")
	case kind != "github":
		return nil, fault.New(fault.Invalid, "--forge %s: want git or github", kind)
	case address == "":
		return nil, fault.New(fault.Invalid, "--forge github: name a GitHub Enterprise server on this machine with --forge-url, as in http://127.0.0.1:4000; 'make demo-github' starts one")
	}
	forge := &DemoForge{URL: address, Variable: demoTokenVariable}
	for variable, token := range map[string]*secret.String{demoTokenVariable: &forge.Promoter, demoPersonVariable: &forge.Person} {
		value, _ := env(variable)
		*token = secret.New(value)
	}
	if forge.Promoter.IsZero() || forge.Person.IsZero() {
		return nil, fault.New(fault.Invalid, "--forge github: set %s to a token of promoter's account there, and %s to one of a person's", demoTokenVariable, demoPersonVariable)
	}
	return forge, nil
}

// verbs runs command lines inside the demo: with its output, without input.
func verbs(system System) func(context.Context, io.Writer, ...string) int {
	return func(ctx context.Context, out io.Writer, args ...string) int {
		inner := system
		inner.In, inner.Out, inner.Err, inner.ErrTerminal = strings.NewReader(""), out, out, false
		return Main(ctx, args, inner)
	}
}
