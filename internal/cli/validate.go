package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/connect"
)

func newValidate(system System) *cobra.Command {
	var dir, server, output string
	command := &cobra.Command{
		Use:   "validate",
		Short: wordValidateShort,
		Long:  wordValidateLong,
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			// Whoever runs a server has its file alone.
			alone := server != "" && !command.Flags().Changed("dir") && !checkout.HasConfig(dir)
			problems, err := validate(dir, !alone, server, system)
			if err != nil {
				return err
			}
			return sayProblems(system, problems, output)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dir, "dir", ".", flagDir)
	flags.StringVar(&server, "server", "", flagServer)
	flags.StringVarP(&output, "output", "o", "text", flagOutputPlain)
	return command
}

// validateJSON is what validate prints with -o json.
type validateJSON struct {
	Valid    bool             `json:"valid"`
	Problems []config.Problem `json:"problems"`
}

// validate checks the files that were asked for.
func validate(dir string, withConfig bool, server string, system System) (problems config.Problems, err error) {
	if withConfig {
		if problems, err = checkout.Validate(dir); err != nil {
			return nil, err
		}
	}
	if server == "" {
		return problems, nil
	}
	more, err := connect.Validate(server, system.Env)
	return append(problems, more...), err
}

func sayProblems(system System, problems config.Problems, output string) error {
	result := validateJSON{Valid: problems.Err() == nil, Problems: list([]config.Problem(problems))}
	if err := printAs(system.Out, output, result, func() string { return problemLines(problems) }); err != nil {
		return err
	}
	sayValidated(system.Err, problems)
	if !result.Valid {
		return exit(exitFailed)
	}
	return nil
}

func problemLines(problems config.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(visible(p.String()) + "\n")
	}
	return b.String()
}
