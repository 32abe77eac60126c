package local

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"promoter/internal/checkout"
	"promoter/internal/cli/console"
	"promoter/internal/cli/flag"
	"promoter/internal/cli/render"
	"promoter/internal/imports"
)

// NewImport returns the command import. schema is the address of the JSON Schema that the config
// names, or empty.
func NewImport(system console.System, schema string) *cobra.Command {
	var file newFile
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
			return runImport(command.Context(), system, schema, &file, imports.Tool(arguments[0]))
		},
	}
	file.addFlags(command)
	return command
}

func runImport(ctx context.Context, system console.System, schema string, file *newFile, tool imports.Tool) error {
	if err := file.refuseExisting(); err != nil {
		return err
	}
	imported, err := checkout.Import(ctx, file.dir, schema, tool)
	if err != nil {
		return err
	}
	held := render.Count(len(imported.Components), "component", "components") + ", " +
		render.Count(len(imported.Environments), "environment", "environments")
	return file.write(system, imported.Text, held, func(w io.Writer) {
		if len(imported.Notes) > 0 {
			render.PrintDetail(w, "not in it, or narrower:")
		}
		for _, n := range imported.Notes {
			render.PrintDetail(w, "  %s", n)
		}
	})
}
