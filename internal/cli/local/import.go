package local

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/imports"
)

// NewImport returns the command import.
func NewImport(system console.System) *cobra.Command {
	var dir, output string
	var names []string
	for _, tool := range imports.Tools() {
		names = append(names, string(tool))
	}
	command := &cobra.Command{
		Use:   "import TOOL",
		Short: "Convert the configuration of another tool to a .promoter.yaml",
		Long: `import reads the objects, annotations, or settings of another tool from the files of a folder, and
writes a .promoter.yaml that does the same. TOOL is one of:
` + strings.Join(names, ", ") + `.

The config is never wider than its source: it accepts no tag, changes no file, and starts no
promotion that the tool would not. What has no match is printed with its position, and is a comment
in the file. docs/guides/migrate.md explains how to let both run side by side, and how to switch.

Exit codes: 0 success; 1 nothing to import, or the file exists.`,
		Example: `  promoter import kargo
  promoter import flux --dir clusters -o -`,
		Args:      flag.OneArgument("TOOL"),
		ValidArgs: names,
		RunE: func(command *cobra.Command, arguments []string) error {
			return runImport(command.Context(), system, imports.Tool(arguments[0]), dir, output)
		},
	}
	flags := command.Flags()
	flags.StringVar(&dir, "dir", ".", flag.DirUsage)
	flags.StringVarP(&output, "output", "o", "", "`FILE` to write, or - for standard output (default: .promoter.yaml in the folder)")
	return command
}

func runImport(ctx context.Context, system console.System, tool imports.Tool, dir, output string) error {
	if output == "" {
		output = filepath.Join(dir, config.FileName)
	}
	if _, err := os.Lstat(output); err == nil && output != standardOutput {
		return fault.New(fault.Conflict, "%s exists and is not overwritten: remove it first, or write to another file with -o", output)
	}
	imported, err := checkout.Import(ctx, dir, tool)
	if err != nil {
		return err
	}
	if output == standardOutput {
		err = render.Write(system.Out, imported.Text)
	} else {
		err = checkout.WriteConfig(output, imported.Text)
	}
	if err != nil {
		return err
	}
	printImported(system.Err, imported, output, dir)
	return nil
}

// printImported prints what was written, what it does not have, and the next steps.
func printImported(w io.Writer, imported *imports.Imported, output, dir string) {
	held := render.Count(len(imported.Components), "component", "components") + ", " + render.Count(len(imported.Environments), "environment", "environments")
	if output == standardOutput {
		render.PrintMessage(w, "%s; nothing was written", held)
	} else {
		render.PrintMessage(w, "wrote %s: %s", output, held)
	}
	if len(imported.Notes) > 0 {
		render.PrintDetail(w, "not in it, or narrower:")
	}
	for _, n := range imported.Notes {
		render.PrintDetail(w, "  %s", n)
	}
	if output == standardOutput {
		return
	}
	at := ""
	if dir != "." {
		at = " --dir " + dir
	}
	render.PrintDetail(w, "next:")
	render.PrintDetail(w, "  read and adapt %s", output)
	render.PrintDetail(w, "  promoter validate%s", at)
	render.PrintDetail(w, "  promoter plan%s", at)
}
