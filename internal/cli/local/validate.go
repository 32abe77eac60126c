package local

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/serverfile"
	"promoter/internal/unused"
)

// NewValidate returns the command validate.
func NewValidate(system console.System) *cobra.Command {
	var dir, server, output string
	command := &cobra.Command{
		Use:   "validate",
		Short: "Validate the config file",
		Long: `validate checks .promoter.yaml, and with --server also the server file. Without a
.promoter.yaml and without --dir, it checks the server file alone. It prints each problem with its
file, line, and column, and how to fix it. It warns of what matches nothing: paths, excludes,
components, applications, and the key of gates.hold in the files of the checkout; windows that
have ended; receivers and destinations of the server file. It warns of texts in the files that
name a followed image and that promoter does not edit. Of a server file that lists one
repository, it also warns of globs, receivers, and destinations that nothing uses. It also warns
of other tools that update the same images, of environments that no limit or permission of the
server file knows, if others are named there, and of user decisions that the clone has about
environments or applications that are gone.

Exit codes: 0 no errors (there may be warnings); 1 errors.`,
		Example: `  promoter validate
  promoter validate --server promoter-server.yaml`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			// A folder with only a server file needs no .promoter.yaml.
			alone := server != "" && !command.Flags().Changed("dir") && !checkout.HasConfig(dir)
			problems, err := validate(command.Context(), dir, !alone, server, system)
			if err != nil {
				return err
			}
			return printProblems(system, problems, output)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dir, "dir", ".", flag.DirUsage)
	flags.StringVar(&server, "server", "", "server `FILE` to validate too")
	flags.StringVarP(&output, "output", "o", "text", flag.OutputUsage)
	return command
}

// validateJSON is what validate prints with -o json.
type validateJSON struct {
	Valid    bool             `json:"valid"`
	Problems []config.Problem `json:"problems"`
}

// validate validates the files that the flags select.
func validate(ctx context.Context, dir string, withConfig bool, server string, system console.System) (config.Problems, error) {
	var loaded *config.Config
	var problems config.Problems
	var err error
	if withConfig {
		loaded, problems, err = checkout.Validate(dir)
		if err != nil {
			return nil, err
		}
	}
	facts := unused.Facts{Now: time.Now()}
	if withConfig && problems.Err() == nil {
		known, err := checkout.Known(ctx, dir, loaded)
		if err != nil {
			return nil, err
		}
		facts.Repositories = append(facts.Repositories, known)
		writers, err := checkout.OtherWriters(ctx, dir, loaded)
		if err != nil {
			return nil, err
		}
		gone, err := checkout.GoneDecisions(ctx, dir, loaded, facts.Now)
		if err != nil {
			return nil, err
		}
		problems = slices.Concat(problems, writers, gone)
	}
	if server == "" {
		return append(problems, unused.Find(facts)...), nil
	}
	more, err := serverfile.Validate(server, system.Env, facts)
	return append(problems, more...), err
}

func printProblems(system console.System, problems config.Problems, output string) error {
	result := validateJSON{Valid: problems.Err() == nil, Problems: render.List([]config.Problem(problems))}
	if err := render.PrintAs(system.Out, output, result, func() string { return render.ProblemLines(problems) }); err != nil {
		return err
	}
	printValidation(system.Err, problems)
	if !result.Valid {
		return console.ExitError(console.ExitFailed)
	}
	return nil
}

// printValidation summarizes the problems.
func printValidation(w io.Writer, problems config.Problems) {
	failed, warned := len(problems.Errors()), len(problems.Warnings())
	switch {
	case failed == 0 && warned == 0:
		render.PrintMessage(w, "the config is valid")
	case failed == 0:
		render.PrintMessage(w, "the config is valid, with %s", render.Count(warned, "warning", "warnings"))
	default:
		render.PrintMessage(w, "the config is not valid: %s", render.Count(failed, "error", "errors"))
	}
}
