package local

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/pullrequest"
	"promoter/internal/suggest"
)

// NewInit returns the command init. schema is the address of the JSON Schema that the config
// names, or empty.
func NewInit(system console.System, schema string) *cobra.Command {
	var file newFile
	var networks []string
	command := &cobra.Command{
		Use:   "init",
		Short: "Generate a .promoter.yaml from the files of a checkout",
		Long: `init scans a folder and writes a .promoter.yaml to start from: environments from the names of
folders and files, components from the image references, and version selection from the tags in
use. It lists what it guessed, the worst first, with what to change if a guess is wrong.

It queries the registries of the images to state what the first reconciliation will do. If that is
much, the config begins carefully. It never overwrites a file.

Exit codes: 0 success; 1 no image reference found, or the file exists.`,
		Example: `  promoter init
  promoter init --dir deploy -o -`,
		Args: flag.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runInit(command.Context(), system, schema, &file, networks)
		},
	}
	file.addFlags(command)
	command.Flags().StringArrayVar(&networks, "network", nil, flag.NetworkUsage)
	return command
}

func runInit(ctx context.Context, system console.System, schema string, file *newFile, networks []string) error {
	if err := file.refuseExisting(); err != nil {
		return err
	}
	suggestion, err := checkout.Suggest(ctx, file.dir, schema)
	if errors.Is(err, suggest.ErrNothing) {
		render.PrintMessage(system.Err, "%v", err)
		render.PrintDetail(system.Err, "  -> %s needs at least one: a value like quay.io/acme/web:1.4.2, a kustomize images: entry, "+
			"or a repository with a tag in Helm values", config.FileName)
		return console.ExitError(console.ExitFailed)
	}
	if err != nil {
		return err
	}
	first, err := previewFirst(ctx, system, file.dir, suggestion, networks)
	if err != nil {
		return err
	}
	return file.write(system, suggestion.Text, contents(suggestion), func(w io.Writer) {
		printGuesses(w, suggestion.Guesses)
		printFirst(w, first)
	})
}

// previewTimeout is how long init waits for registries. What it does not know then, it
// reports as unknown.
const previewTimeout = time.Minute

// previewFirst plans the first reconciliation. Registries that do not answer are reported
// and stop nothing.
func previewFirst(
	ctx context.Context, system console.System, dir string, s *suggest.Suggestion, networks []string,
) ([]pullrequest.First, error) {
	registries, err := connect.NewLocalRegistries(connect.RegistryOptions{Networks: networks, Now: time.Now})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	progress := console.NewProgress(system)
	first, failed, err := checkout.PreviewFirst(limited, dir, s, checkout.Options{
		ShowOnly: true, Versions: registries.For(""), Now: time.Now, Progress: progress.Show,
	})
	progress.Clear()
	if err = errors.Join(err, registries.Close()); err != nil && ctx.Err() == nil {
		render.PrintMessage(system.Err, "what the first reconciliation does is unknown: %v", err)
		err = nil
	}
	render.PrintPreviewErrors(system.Err, &checkout.Preview{Errors: failed}, "text")
	return first, errors.Join(err, context.Cause(ctx))
}

// maxFirstListed is how many promotions of an environment are listed.
const maxFirstListed = 3

// printFirst prints what the first reconciliation will do.
func printFirst(w io.Writer, all []pullrequest.First) {
	render.PrintDetail(w, "the first reconciliation, when the file is on the default branch:")
	if len(all) == 0 {
		render.PrintDetail(w, "  nothing: the files have the selected versions already, or they are unknown")
	}
	for _, first := range all {
		for _, line := range first.Lines() {
			render.PrintDetail(w, "  %s", line.Text)
			for _, promotion := range line.Promotions[:min(len(line.Promotions), maxFirstListed)] {
				render.PrintDetail(w, "    %s", promotion)
			}
			if more := line.More + len(line.Promotions) - maxFirstListed; more > 0 {
				render.PrintDetail(w, "    and %d more", more)
			}
		}
	}
}

// printGuesses prints what a user has to check, the worst first.
func printGuesses(w io.Writer, guesses []suggest.Guess) {
	if len(guesses) == 0 {
		return
	}
	render.PrintDetail(w, "guesses to check, the worst first:")
	for i, g := range guesses {
		text, positions, advice := g.Lines()
		render.PrintDetail(w, "  %d. %s", i+1, text)
		for _, position := range positions {
			render.PrintDetail(w, "     %s", position)
		}
		render.PrintDetail(w, "     -> %s", advice)
		if g.More > 0 {
			render.PrintDetail(w, "     and %d more of the same kind", g.More)
		}
	}
}

// contents counts what a suggestion has.
func contents(s *suggest.Suggestion) string {
	active := 0
	for _, component := range s.Components {
		if component.Off == "" {
			active++
		}
	}
	held := render.Count(active, "component", "components") + ", " +
		render.Count(len(s.Environments), "environment", "environments")
	if len(s.Applications) > 0 {
		held += ", " + render.Count(len(s.Applications), "application", "applications")
	}
	return held
}
