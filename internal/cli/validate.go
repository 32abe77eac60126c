package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/config"
)

func newValidate(system System) *cobra.Command {
	var dir, server, output string
	command := &cobra.Command{
		Use:   "validate",
		Short: wordValidateShort,
		Long:  wordValidateLong,
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return runValidate(system, dir, server, output)
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

func runValidate(system System, dir, server, output string) error {
	problems, err := app.Validate(dir, server, system.Env)
	if err != nil {
		return err
	}
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
