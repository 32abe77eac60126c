package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/checkout"
)

// addCompletion completes the names of environments and applications on the command line,
// as the checkout in the current folder, or in --dir, has them. Without a config file
// nothing is completed.
func addCompletion(command *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{
		"env": completeEnvironments, "to": completeEnvironments, "app": completeApplications,
	} {
		if command.Flags().Lookup(flag) != nil {
			_ = command.RegisterFlagCompletionFunc(flag, complete) // fails only without such a flag
		}
	}
}

// describeCompletion replaces cobra's help of the command that prints completion scripts.
func describeCompletion(root *cobra.Command) {
	command, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	command.Short = "Print a completion script for a shell"
	command.Long = `completion prints a script that completes commands, flags, and the names of environments and
applications, which it reads from the checkout in the current folder or in --dir. The help of
each shell, such as 'promoter completion bash --help', shows how to load the script.`
}

func completeEnvironments(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	environments, err := checkout.Environments(completionDir(command))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return environments, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func completeApplications(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	applications, err := checkout.Applications(command.Context(), completionDir(command))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return applications, cobra.ShellCompDirectiveNoFileComp
}

// completeEnvironment completes the one argument of a command.
func completeEnvironment(command *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeEnvironments(command, args, toComplete)
}

// completionDir returns the folder of the checkout. Verbs without --dir write to a forge,
// and are mostly used in a checkout of the same repository.
func completionDir(command *cobra.Command) string {
	if flag := command.Flags().Lookup("dir"); flag != nil {
		return flag.Value.String()
	}
	return "."
}
