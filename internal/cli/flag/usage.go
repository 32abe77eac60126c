package flag

import (
	"github.com/spf13/cobra"

	"promoter/internal/fault"
)

// Usages of flags that several commands have.
const (
	ConfigUsage  = "server `FILE` (default: $PROMOTER_CONFIG, or promoter-server.yaml in this folder)"
	DirUsage     = "`FOLDER` to work in"
	AppUsage     = "`NAME` of the application (default: all)"
	EnvUsage     = "`NAME` of the environment (default: all)"
	DryRunUsage  = "show what would be done, and write nothing"
	NetworkUsage = "private network (`CIDR`) that may contain registries (repeatable)"
	ColorUsage   = "`WHEN` to color the output: auto, always, or never"
	OutputUsage  = "output `FORMAT`: text or json"
)

// NoArguments refuses arguments of a command that has only flags.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%[1]s takes no arguments, got %[2]q: '%[1]s --help' lists its flags", command.CommandPath(), args[0])
}

// OneArgument refuses anything but one argument, which the help calls NAME.
func OneArgument(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fault.New(fault.Invalid, "%s takes one %s: %s", command.CommandPath(), name, command.UseLine())
		}
		return nil
	}
}
