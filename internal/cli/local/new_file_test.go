package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/local"
)

func TestNewConfigs_nameTheSchemaOfTheRelease(t *testing.T) {
	t.Parallel()
	const schema = "https://example.com/v0.1.0/promoter.schema.json"
	newInit := func(system console.System) *cobra.Command { return local.NewInit(system, schema) }
	newImport := func(system console.System) *cobra.Command { return local.NewImport(system, schema) }
	// Flux is imported as images are found for a first config, Kargo from its objects.
	tests := []struct {
		name    string
		command func(console.System) *cobra.Command
		args    []string
	}{
		{"init", newInit, []string{"--dir", source("flux")}},
		{"import flux", newImport, []string{"flux", "--dir", source("flux")}},
		{"import kargo", newImport, []string{"kargo", "--dir", source("kargo")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, out, messages := run(t, test.command, append(test.args, "-o", "-")...)
			if want := "# yaml-language-server: $schema=" + schema + "\n"; code != 0 || !strings.HasPrefix(out, want) {
				t.Errorf("exit %d, want first line %s%s\n%s", code, want, out, messages)
			}
		})
	}
}

// source is the folder of a tool with its objects and the files that it changes.
func source(tool string) string {
	return filepath.Join("..", "..", "..", "testdata", "import", tool, "source")
}

func TestImport_warnsOfAFolderThatIsNotTheRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "deploy"), os.DirFS(source("kargo"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "deploy")
	newImport := func(system console.System) *cobra.Command { return local.NewImport(system, "") }
	code, _, messages := run(t, newImport, "kargo", "--dir", dir)
	for _, want := range []string{
		"warning: promoter reads .promoter.yaml only from the root of the repository, " + root,
		"wrote " + filepath.Join(dir, ".promoter.yaml"), "promoter validate --dir " + dir,
	} {
		if code != 0 || !strings.Contains(messages, want) {
			t.Errorf("exit %d, want %q in\n%s", code, want, messages)
		}
	}
}
