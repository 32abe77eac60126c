package cli

import (
	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/rendered"
)

// newRenderManifests is the command of the child processes that render manifests for pull
// requests. It is hidden: only promoter itself starts it.
func newRenderManifests(system console.System) *cobra.Command {
	return &cobra.Command{
		Use:    rendered.Command,
		Short:  "Render manifests that promoter hands over",
		Hidden: true,
		Args:   flag.NoArguments,
		RunE:   func(*cobra.Command, []string) error { return rendered.Child(system.In, system.Out) },
	}
}
