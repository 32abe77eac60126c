package cli

import "github.com/spf13/cobra"

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
