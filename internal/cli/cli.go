// Package cli is the command line: it groups the commands, and has those that belong to no
// other package: serve, demo, version, man, and completion. The packages below it have one
// command per file, with its flags and its help. Package render prints the results.
package cli

//go:generate go test . -run ^TestReference_isCurrent$ -update

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/cli/client"
	"promoter/internal/cli/console"
	"promoter/internal/cli/decide"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/forge"
	"promoter/internal/cli/local"
	"promoter/internal/fault"
)

// otherCommands is the group of commands that are no part of the daily work.
const otherCommands = "Other:"

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, system console.System, demo Demo) int {
	return console.Run(ctx, newRoot(system, demo), args, system)
}

func newRoot(system console.System, demo Demo) *cobra.Command {
	root := &cobra.Command{
		Use:   "promoter",
		Short: "Promote container images through the environments of a GitOps repository",
		Long: `promoter finds the image references in the YAML, Helm, and kustomize files of a GitOps
repository, queries registries for new versions, and changes exactly the bytes of the
values. It opens pull requests and promotes the same digests from environment to
environment.

Data goes to standard output, messages to standard error.`,
		Example: `  promoter demo                      # see it work on this machine
  promoter init && promoter plan     # start in a checkout of your GitOps repository`,
		Version: versionOf(released).text(),
	}
	root.SetVersionTemplate("promoter {{.Version}}\n")
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fault.New(fault.Invalid, "%w: '%s --help' lists the flags", err, command.CommandPath())
	})
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"In a checkout:", []*cobra.Command{
			local.NewInit(system, schemaURL(releaseURL)), local.NewImport(system, schemaURL(releaseURL)), local.NewValidate(system),
			local.NewPlan(system), local.NewApply(system), forge.NewExplain(system),
		}},
		{"On a forge:", []*cobra.Command{
			forge.NewRun(system), forge.NewSimulate(system), decide.NewDecisions(system), client.NewHistory(system),
			forge.NewDoctor(system), forge.NewApp(system),
		}},
		{"Decisions:", []*cobra.Command{
			decide.NewPromote(system), decide.NewHold(system), decide.NewResume(system), decide.NewReject(system),
			decide.NewUnreject(system), decide.NewRollback(system), decide.NewFreeze(system), decide.NewThaw(system),
			decide.NewConfirmState(system), decide.NewSeals(system),
		}},
		{"As a service:", []*cobra.Command{
			newServe(system), client.NewStatus(system), client.NewWhere(system), client.NewMetrics(system), client.NewReplay(system),
		}},
		{otherCommands, []*cobra.Command{newDemo(system, demo), newVersion(system), newMan(system)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.title
			root.AddCommand(command)
		}
	}
	root.AddCommand(newRenderManifests(system)) // hidden, so in no group
	root.SetHelpCommandGroupID(otherCommands)
	root.SetCompletionCommandGroupID(otherCommands)
	root.InitDefaultCompletionCmd()
	describeCompletion(root)
	for _, command := range append(root.Commands(), root) {
		if command.HasSubCommands() {
			requireVerb(command)
		}
		flag.Complete(command)
	}
	return root
}

// requireVerb makes a command require a verb: without one it prints its help, and an
// unknown one is an error. Cobra would print the help of a command with a parent instead,
// and exit with 0.
func requireVerb(command *cobra.Command) {
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if command.SuggestionsMinimumDistance <= 0 {
			command.SuggestionsMinimumDistance = 2
		}
		path := command.CommandPath()
		if meant := command.SuggestionsFor(args[0]); len(meant) > 0 {
			slices.Sort(meant)
			return fault.New(fault.Invalid, "unknown command \"%s %s\": did you mean %s?", path, args[0], strings.Join(meant, " or "))
		}
		return fault.New(fault.Invalid, "unknown command \"%[1]s %[2]s\": '%[1]s --help' lists the commands", path, args[0])
	}
	command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
	command.DisableFlagsInUseLine = true
}
