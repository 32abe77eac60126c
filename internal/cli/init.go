package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/suggest"
)

func newInit(system System) *cobra.Command {
	var dir, output string
	command := &cobra.Command{
		Use:     "init",
		Short:   wordInitShort,
		Long:    wordInitLong,
		Example: wordInitExample,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runInit(command, system, dir, output)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dir, "dir", ".", flagDir)
	flags.StringVarP(&output, "output", "o", "", flagInitOutput)
	return command
}

// standardOutput as the name of a file means that the text is only shown.
const standardOutput = "-"

func runInit(command *cobra.Command, system System, dir, output string) error {
	if output == "" {
		output = filepath.Join(dir, config.FileName)
	}
	// Nobody waits for a search whose result cannot be written.
	if _, err := os.Lstat(output); err == nil && output != standardOutput {
		return fault.New(fault.Conflict, wordInitPresent, output)
	}
	suggestion, err := checkout.Suggest(command.Context(), dir)
	if errors.Is(err, suggest.ErrNothing) {
		sayNothingToFollow(system.Err, err)
		return exit(exitFailed)
	}
	if err != nil {
		return err
	}
	if output == standardOutput {
		err = write(system.Out, suggestion.Text)
	} else {
		err = checkout.WriteConfig(output, suggestion.Text)
	}
	if err != nil {
		return err
	}
	sayWarnings(system.Err, suggestion.Warnings)
	saySuggested(system.Err, suggestion, output, dir)
	return nil
}
