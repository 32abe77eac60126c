package flag

import (
	"github.com/spf13/cobra"

	"promoter/internal/checkout"
)

// Complete completes the names of environments and applications on the command line,
// as the checkout in the current folder, or in --dir, has them. Without a config file
// nothing is completed.
func Complete(command *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{
		"env": completeEnvironments, "to": completeEnvironments, "app": completeApplications,
	} {
		if command.Flags().Lookup(flag) != nil {
			_ = command.RegisterFlagCompletionFunc(flag, complete) // fails only without such a flag
		}
	}
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

// CompleteEnvironment completes the one argument of a command.
func CompleteEnvironment(command *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
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
